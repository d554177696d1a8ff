import type { AssistantPart } from './prompt.ts'

/**
 * How one call of a model ended. Calls never throw.
 *
 * | type       | meaning                                                                                    |
 * | `answered` | the whole answer                                                                           |
 * | `cut`      | the stream broke after output had begun; `parts` is what was complete, without half calls  |
 * | `refused`  | the provider's filter ended the answer                                                     |
 * | `overflow` | the prompt is larger than the context window                                               |
 * | `failed`   | no output that can be used                                                                 |
 * | `aborted`  | the caller's signal                                                                        |
 */
export type CallAnswer =
  | {
      readonly type: 'answered'
      readonly parts: readonly AssistantPart[]
      readonly finish: Finish
      /** The provider's own word for it. */
      readonly rawFinish?: string
      readonly usage: Usage
      /** Settings that the provider ignored, and content that was left out. */
      readonly warnings: readonly string[]
    }
  | {
      readonly type: 'cut'
      readonly parts: readonly AssistantPart[]
      readonly usage: Usage
      readonly failure: CallFailure
    }
  | {
      readonly type: 'refused'
      readonly parts: readonly AssistantPart[]
      readonly usage: Usage
      readonly message: string
    }
  | { readonly type: 'overflow'; readonly usage?: Usage; readonly message: string }
  | {
      readonly type: 'failed'
      readonly failure: CallFailure
      /** Of an answer that was too large to be kept. */
      readonly usage?: Usage
    }
  | {
      readonly type: 'aborted'
      readonly parts: readonly AssistantPart[]
      /** Absent if the provider had not begun. */
      readonly usage?: Usage
    }

/** `paused`: the provider interrupted a long answer, and continues it in the next call. */
export type Finish = 'stop' | 'length' | 'tool_calls' | 'paused' | 'other'

export interface Usage {
  /** All input, cached or not. */
  readonly inputTokens: number
  /** The part of the input that was read from the provider's cache. */
  readonly cachedInputTokens: number
  /** The part of the input that was written to it. */
  readonly cacheWriteTokens: number
  /** All output, with reasoning. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** The provider reported no usage, so it was estimated. */
  readonly isEstimate: boolean
}

export interface CallFailure {
  readonly kind: FailureKind
  readonly message: string
  readonly remedy: string
  /** The HTTP status, if the provider answered with one. */
  readonly status?: number
  /** The provider asks to wait this long. */
  readonly retryAfterMs?: number
}

export type FailureKind =
  | 'answer_too_large'
  | 'busy'
  | 'internal'
  | 'invalid_answer'
  | 'invalid_request'
  | 'key_missing'
  | 'key_rejected'
  | 'model_unknown'
  | 'network'
  | 'not_allowed'
  | 'not_recorded'
  | 'overloaded'
  | 'quota_exhausted'
  | 'rate_limited'
  | 'redirected'
  | 'script'
  | 'server_error'
  | 'timeout'
