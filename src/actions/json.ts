import { RefusedError } from '../core/errors.ts'
import { type Json, notJson } from '../core/json/json.ts'
import { refusal } from '../core/refusal.ts'

/** Returns a value that a caller gave, if it is JSON all the way down: only that can be stored. */
export function checkJson(value: Json, field: string): Json {
  const wrong = notJson(value)
  if (wrong !== undefined)
    throw new RefusedError(refusal('invalid_input', `${field}: ${wrong}.`, 'Send plain JSON.', { field }))
  return value
}
