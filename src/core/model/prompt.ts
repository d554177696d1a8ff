import type { Json, JsonObject } from '../json/json.ts'

/** A request to a model: plain data, so that it can be stored, compared and built again after a restart. */
export interface ModelRequest {
  readonly system: string
  /** Oldest first. It ends with an item that the model answers: never with an assistant item. */
  readonly prompt: readonly PromptItem[]
  readonly tools: readonly ToolDeclaration[]
  readonly settings?: ModelSettings
  /** Indexes of prompt items where a prefix ends that later requests begin with. Default: `cacheBreakpoints`. */
  readonly cacheAfter?: readonly number[]
  /** The same text for all requests of a session: providers route such requests to the same cache. */
  readonly cacheKey?: string
  /** How many answers the session had before. A script uses it to continue where it stopped; default: assistant items are counted. */
  readonly answersBefore?: number
}

interface ModelSettings {
  readonly maxOutputTokens?: number
  readonly effort?: Effort
  readonly temperature?: number
}

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
/** How much a model thinks; each provider has its own steps. */
export type Effort = (typeof EFFORTS)[number]

export interface ToolDeclaration {
  readonly name: string
  readonly description: string
  /** The JSON schema of its input, an object. */
  readonly input: JsonObject
}

export interface ModelName {
  readonly provider: string
  readonly model: string
}

/**
 * | item           | said by                                                                   |
 * | `user`         | a person or another process                                               |
 * | `assistant`    | a model; `by` names it                                                    |
 * | `tool_results` | the tools; one result for each call of the assistant item before          |
 * | `note`         | Reeve: changed instructions, an interruption. Models see it as user input |
 */
export type PromptItem =
  | { readonly type: 'user'; readonly parts: readonly UserPart[] }
  | { readonly type: 'assistant'; readonly by?: ModelName; readonly parts: readonly AssistantPart[] }
  | { readonly type: 'tool_results'; readonly results: readonly ToolResult[] }
  | { readonly type: 'note'; readonly text: string }

/** `data` is base64. */
export type UserPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly name?: string; readonly data: string }

/** What a provider attaches to a part: signatures, encrypted reasoning, ids. Stored whole, and sent only to the model that made it. */
export type ProviderData = JsonObject

export type AssistantPart =
  | { readonly type: 'text'; readonly text: string; readonly providerData?: ProviderData }
  | { readonly type: 'reasoning'; readonly text: string; readonly providerData?: ProviderData }
  | ToolCall
  | ProviderResult
  /** Content that only the provider understands. */
  | { readonly type: 'opaque'; readonly kind: string; readonly providerData?: ProviderData }

export interface ToolCall {
  readonly type: 'tool_call'
  /** Unique in the prompt. The provider's own id, unless that was missing or taken. */
  readonly callId: string
  readonly tool: string
  readonly input: JsonObject
  /** The call must not be executed: answer it with an error result that says why. */
  readonly problem?: ToolCallProblem
  /** The provider executed it, and its `provider_result` is in the same answer. */
  readonly isProviderExecuted?: true
  readonly providerData?: ProviderData
}

export type ToolCallProblem =
  /** The arguments are not a JSON object; `text` is their beginning. */
  | { readonly type: 'malformed'; readonly message: string; readonly text: string }
  | { readonly type: 'unknown_tool'; readonly message: string }

interface ProviderResult {
  readonly type: 'provider_result'
  readonly callId: string
  readonly tool: string
  readonly result: Json
  readonly isError: boolean
  readonly providerData?: ProviderData
}

export interface ToolResult {
  readonly callId: string
  readonly tool: string
  readonly output: ToolOutput
  readonly isError: boolean
}

type ToolOutput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: Json }
  | { readonly type: 'content'; readonly parts: readonly UserPart[] }

/**
 * Where prefixes of a prompt end that are worth caching: at its end, which the next request begins with, and at the end of the request
 * before, which is in the cache already. Providers look back a few blocks only, and one answer may have many.
 */
export function cacheBreakpoints(prompt: readonly PromptItem[]): readonly number[] {
  const before = prompt.findLastIndex((item) => item.type === 'assistant') - 1
  const last = prompt.length - 1
  return [before, last].filter((index) => index >= 0)
}
