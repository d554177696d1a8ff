import type { CallAnswer, CallFailure, FailureKind } from './answer.ts'

/** Attempts with one model, the first included. */
const MAX_ATTEMPTS = 4
/** How often a broken stream is continued. */
const MAX_CONTINUATIONS = 3
/** The sum of all waits before retries with one model: longer trouble is for the person, or for the next model of the list. */
export const MAX_WAIT_MS = 40_000
const BASE_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

const RETRIED_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504, 529]

/** Whether the same request may succeed later, by the kind of a failure. A status decides first. */
const RETRIED_KINDS: Readonly<Record<FailureKind, boolean>> = {
  answer_too_large: false,
  busy: true,
  internal: false,
  invalid_answer: true,
  invalid_request: false,
  key_missing: false,
  key_rejected: false,
  model_unknown: false,
  network: true,
  not_allowed: false,
  not_recorded: false,
  overloaded: true,
  quota_exhausted: false,
  rate_limited: true,
  redirected: false,
  script: false,
  server_error: true,
  timeout: true,
}

/** How far the calls for one answer have got. Plain data: stored with each retry, so that a restart continues the count. */
export interface CallProgress {
  /** The index in the list of models. */
  readonly model: number
  /** Calls of this model without output. */
  readonly attempts: number
  /** Calls of this model that broke after output had begun. */
  readonly continuations: number
  readonly waitedMs: number
}

export const NO_PROGRESS: CallProgress = { model: 0, attempts: 0, continuations: 0, waitedMs: 0 }

export type NextStep =
  | { readonly type: 'use' }
  /** Send the same request again, `delayMs` from now. */
  | {
      readonly type: 'retry'
      readonly delayMs: number
      readonly failure: CallFailure
      readonly progress: CallProgress
    }
  /** Append what was complete, and call again, `delayMs` from now. */
  | {
      readonly type: 'continue'
      readonly delayMs: number
      readonly failure: CallFailure
      readonly progress: CallProgress
    }
  /** Go on with the next model of the list, now. */
  | { readonly type: 'fall_back'; readonly failure: CallFailure; readonly progress: CallProgress }
  /** The prompt must become shorter. */
  | { readonly type: 'compact'; readonly message: string }
  | { readonly type: 'give_up'; readonly reason: GiveUpReason }

type GiveUpReason =
  | { readonly type: 'failed'; readonly failure: CallFailure }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'aborted' }

/**
 * What to do after a call. Delays double from half a second up to ten, each multiplied by `random` (full jitter, 0 to 1); a provider that asks
 * for more time gets it, within the sum of all waits. A refusal of the filter does not go to another model.
 */
export function nextStep({
  answer,
  progress,
  models,
  random,
}: {
  readonly answer: CallAnswer
  /** Before this answer. */
  readonly progress: CallProgress
  /** The length of the list of models. */
  readonly models: number
  readonly random: number
}): NextStep {
  switch (answer.type) {
    case 'answered':
      return { type: 'use' }
    case 'refused':
      return { type: 'give_up', reason: { type: 'refused', message: answer.message } }
    case 'aborted':
      return { type: 'give_up', reason: { type: 'aborted' } }
    case 'overflow':
      return { type: 'compact', message: answer.message }
    case 'cut':
      return afterCut(answer.failure, progress, { models, random })
    case 'failed':
      return afterFailure(answer.failure, progress, { models, random })
  }
}

export function isRetryable({ kind, status }: CallFailure): boolean {
  if (kind === 'quota_exhausted') return false
  return (status !== undefined && RETRIED_STATUSES.includes(status)) || RETRIED_KINDS[kind]
}

interface Choices {
  readonly models: number
  readonly random: number
}

function afterFailure(failure: CallFailure, before: CallProgress, choices: Choices): NextStep {
  const attempts = before.attempts + 1
  const delayMs = delayBefore(attempts, failure, choices.random)
  const waitedMs = before.waitedMs + delayMs
  if (!isRetryable(failure) || attempts >= MAX_ATTEMPTS || waitedMs > MAX_WAIT_MS)
    return fallBack(failure, before, choices)
  return { type: 'retry', delayMs, failure, progress: { ...before, attempts, waitedMs } }
}

function afterCut(failure: CallFailure, before: CallProgress, choices: Choices): NextStep {
  const continuations = before.continuations + 1
  const delayMs = delayBefore(continuations, failure, choices.random)
  const waitedMs = before.waitedMs + delayMs
  if (continuations > MAX_CONTINUATIONS || waitedMs > MAX_WAIT_MS) return fallBack(failure, before, choices)
  return { type: 'continue', delayMs, failure, progress: { ...before, continuations, waitedMs } }
}

function fallBack(failure: CallFailure, { model }: CallProgress, { models }: Choices): NextStep {
  if (model + 1 >= models) return { type: 'give_up', reason: { type: 'failed', failure } }
  return { type: 'fall_back', failure, progress: { ...NO_PROGRESS, model: model + 1 } }
}

function delayBefore(retry: number, { retryAfterMs }: CallFailure, random: number): number {
  const jittered = Math.round(random * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (retry - 1)))
  return Math.max(jittered, retryAfterMs ?? 0)
}
