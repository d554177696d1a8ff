import { messageOf } from '../base/error-text.ts'
import { isObject } from '../base/is-object.ts'
import { type JsonObject, notJson } from '../core/json/json.ts'

/** The arguments of a tool call, from their text. No text means no arguments: some providers send that for tools without any. */
export function parseArguments(
  text: string,
):
  | { readonly type: 'parsed'; readonly input: JsonObject }
  | { readonly type: 'malformed'; readonly message: string } {
  if (text.trim() === '') return { type: 'parsed', input: {} }
  try {
    const value: unknown = JSON.parse(text)
    const problem = notJson(value)
    if (problem !== undefined) return { type: 'malformed', message: `${problem}.` }
    if (!isObject(value)) return { type: 'malformed', message: 'they are not a JSON object.' }
    return { type: 'parsed', input: value as JsonObject }
  } catch (error) {
    return { type: 'malformed', message: messageOf(error) }
  }
}
