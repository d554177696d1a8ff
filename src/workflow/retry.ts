import { RefusedError } from '../core/errors.ts'
import { checkOptions } from '../core/known-options.ts'
import { isWaitTime, MAX_WAIT_MS } from '../core/process/wait-time.ts'
import { refusal } from '../core/refusal.ts'
import type { RetryPolicy } from '../verbs/workflow-function.ts'

const DEFAULT_BACKOFF_MS = 1_000
const DEFAULT_FACTOR = 2
const DEFAULT_MAX_BACKOFF_MS = 60 * 60 * 1_000

/** The delay before the next try, after this many tries; undefined if there is no next try. */
export function backoffAfter(
  tries: number,
  error: unknown,
  policy: RetryPolicy | undefined,
): number | undefined {
  if (policy === undefined || tries > policy.times) return undefined
  if (policy.when !== undefined && !policy.when(error)) return undefined
  const {
    backoffMs = DEFAULT_BACKOFF_MS,
    factor = DEFAULT_FACTOR,
    maxBackoffMs = DEFAULT_MAX_BACKOFF_MS,
  } = policy
  // The power of many tries is Infinity, and 0 * Infinity is NaN.
  const grown = backoffMs === 0 ? 0 : backoffMs * factor ** (tries - 1)
  return Math.round(Math.min(grown, maxBackoffMs))
}

/** Refuses an invalid policy before the step runs. */
export function checkRetry(policy: RetryPolicy | undefined): void {
  if (policy === undefined) return
  checkOptions('A retry policy', policy, ['times', 'backoffMs', 'factor', 'maxBackoffMs', 'when'])
  const { times, backoffMs, factor, maxBackoffMs, when } = policy
  const problem =
    typeof times !== 'number' || Number.isNaN(times) || times < 0
      ? 'times must be 0 or more'
      : backoffMs !== undefined && !isWaitTime(backoffMs)
        ? msRule('backoffMs')
        : maxBackoffMs !== undefined && !isWaitTime(maxBackoffMs)
          ? msRule('maxBackoffMs')
          : factor !== undefined && !(factor >= 1 && Number.isFinite(factor))
            ? 'factor must be a number of 1 or more'
            : when !== undefined && typeof when !== 'function'
              ? 'when must be a function'
              : undefined
  if (problem === undefined) return
  throw new RefusedError(refusal('invalid_input', `The retry policy is invalid: ${problem}.`, 'Correct it.'))
}

function msRule(member: string): string {
  return `${member} must be milliseconds from 0 to ${MAX_WAIT_MS}`
}
