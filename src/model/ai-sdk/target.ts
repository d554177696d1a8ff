import type { ModelName } from '../../core/model/prompt.ts'

/** Where a request goes. */
export interface Target extends ModelName {
  readonly family: Family
  /** Anthropic's API demands a limit; others have a default of their own. */
  readonly maxOutputTokens?: number
}

/**
 * How a provider takes prompts.
 *
 * | family      | provider                                                                  |
 * | `messages`  | Anthropic: the request says where cached prefixes end                     |
 * | `responses` | OpenAI: nothing is stored at the provider, and reasoning comes encrypted  |
 * | `chat`      | chat completions: tool results are text                                   |
 * | `other`     | a model object of a program                                               |
 */
export type Family = 'messages' | 'responses' | 'chat' | 'other'

/** Anthropic takes ids of these characters only; other servers invent others. */
export function wireCallId(callId: string, { family }: Target): string {
  return family === 'messages' ? callId.replaceAll(/[^A-Za-z0-9_-]/g, '_') : callId
}
