import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import type { OutputPart } from '../tools/agent-tool.ts'
import { partOf } from './call-output.ts'
import type { Connection } from './connection.ts'
import { McpFailure } from './mcp-failure.ts'
import { type Negotiated, paramsIn } from './protocol.ts'

/** A prompt of a server: a person uses it as a slash command. */
export interface PromptDefinition {
  readonly name: string
  readonly description: string
  readonly arguments: readonly PromptArgument[]
}

interface PromptArgument {
  readonly name: string
  readonly isRequired: boolean
}

const MAX_PROMPTS = 1_000
const MAX_PAGES = 100
const MAX_ARGUMENTS = 100
const MAX_NAME_CHARS = 1_000
const MAX_DESCRIPTION_CHARS = 1_000
/** A longer prompt is refused: an input must stay affordable. */
const MAX_MESSAGES = 1_000

export interface PromptRequest {
  readonly newId: () => string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** All pages of `prompts/list`. A server without prompts has none. */
export async function listPrompts(
  connection: Connection,
  { era, capabilities }: Negotiated,
  { newId, ...request }: PromptRequest,
): Promise<readonly PromptDefinition[]> {
  const found = new Map<string, PromptDefinition>()
  if (capabilities['prompts'] === undefined) return []
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = paramsIn(era, cursor === undefined ? {} : { cursor })
    const { prompts, nextCursor } = await connection.request(newId(), 'prompts/list', params, request)
    if (!Array.isArray(prompts))
      throw new McpFailure('unusable', 'Its answer to prompts/list has no prompts.')
    for (const given of prompts) {
      const prompt = promptDefinition(objectOf(given))
      if (prompt !== undefined && found.size < MAX_PROMPTS) found.set(prompt.name, prompt)
    }
    cursor = nextCursor
    if (typeof cursor !== 'string') break
  }
  return [...found.values()]
}

/** The content of a prompt, as parts of an input. Messages of other roles name them. */
export async function getPrompt(
  connection: Connection,
  { era }: Negotiated,
  { prompt, text }: { readonly prompt: PromptDefinition; readonly text: string },
  { newId, ...request }: PromptRequest,
): Promise<readonly OutputPart[]> {
  const given = argumentsIn(prompt, text)
  const params = paramsIn(era, { name: prompt.name, arguments: given })
  const { messages } = await connection.request(newId(), 'prompts/get', params, request)
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES)
    throw new McpFailure(
      'unusable',
      `Its answer to prompts/get has no messages, or more than ${MAX_MESSAGES}.`,
    )
  return messages.map((message: Json) => {
    const { role, content } = objectOf(message)
    const part = partOf(objectOf(content))
    return role === 'user' || part.type !== 'text' ? part : { ...part, text: `${String(role)}: ${part.text}` }
  })
}

/** The words of a text are the arguments, in their order; the last argument takes the rest. */
function argumentsIn(prompt: PromptDefinition, text: string): JsonObject {
  const { name, arguments: wanted } = prompt
  const given: Record<string, string> = {}
  let rest = text.trim()
  for (const [index, argument] of wanted.entries()) {
    if (rest === '') break
    const isLast = index === wanted.length - 1
    const [word = ''] = isLast ? [rest] : rest.split(/\s/, 1)
    given[argument.name] = word
    rest = rest.slice(word.length).trim()
  }
  const missing = wanted.filter((one) => one.isRequired && given[one.name] === undefined)
  if (missing.length > 0)
    throw new McpFailure('refused', `The prompt ${name} needs ${missing.map((one) => one.name).join(', ')}.`)
  if (rest !== '') throw new McpFailure('refused', `The prompt ${name} takes no arguments.`)
  return given
}

/** Undefined for a value that defines no prompt. */
function promptDefinition({
  name,
  description,
  arguments: wanted,
}: JsonObject): PromptDefinition | undefined {
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) return undefined
  const listed = Array.isArray(wanted) ? wanted.slice(0, MAX_ARGUMENTS) : []
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION_CHARS) : '',
    arguments: listed.flatMap((one: Json) => {
      const { name: argument, required } = objectOf(one)
      return typeof argument === 'string' ? [{ name: argument, isRequired: required === true }] : []
    }),
  }
}
