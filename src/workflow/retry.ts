import { RefusedError } from '../core/errors.ts'
import { refuseUnknownOption } from '../core/known-options.ts'
import { isWaitTime, MAX_WAIT_MS } from '../core/process/wait-time.ts'
import { refusal } from '../core/refusal.ts'
import type { RetryPolicy } from '../verbs/durable-function.ts'

const BACKOFF_MS = 1_000
const FACTOR = 2
const MAX_BACKOFF_MS = 60 * 60 * 1_000

/** How long to wait before the next try, after so many; undefined if there is none. */
export function backoffAfter(
  tries: number,
  error: unknown,
  policy: RetryPolicy | undefined,
): number | undefined {
  if (policy === undefined || tries > policy.times) return undefined
  if (policy.when !== undefined && !policy.when(error)) return undefined
  const { backoffMs = BACKOFF_MS, factor = FACTOR, maxBackoffMs = MAX_BACKOFF_MS } = policy
  // A power of many tries is beyond every number, and nothing times that is no number.
  const grown = backoffMs === 0 ? 0 : backoffMs * factor ** (tries - 1)
  return Math.round(Math.min(grown, maxBackoffMs))
}

/** A policy that no wait can be made of is refused before the step is run. */
export function checkRetry(policy: RetryPolicy | undefined): void {
  if (policy === undefined) return
  checkOptions('A retry policy', policy, ['times', 'backoffMs', 'factor', 'maxBackoffMs', 'when'])
  const { times, backoffMs, factor, maxBackoffMs, when } = policy
  const wrong =
    typeof times !== 'number' || Number.isNaN(times) || times < 0
      ? 'times must be 0 or more'
      : backoffMs !== undefined && !isWaitTime(backoffMs)
        ? notMs('backoffMs')
        : maxBackoffMs !== undefined && !isWaitTime(maxBackoffMs)
          ? notMs('maxBackoffMs')
          : factor !== undefined && !(factor >= 1 && Number.isFinite(factor))
            ? 'factor must be a number of 1 or more'
            : when !== undefined && typeof when !== 'function'
              ? 'when must be a function'
              : undefined
  if (wrong === undefined) return
  throw new RefusedError(refusal('invalid_input', `The retry policy cannot work: ${wrong}.`, 'Mend it.'))
}

export function checkOptions(call: string, given: unknown, known: readonly string[]): void {
  const unknown = refuseUnknownOption(call, given, known)
  if (unknown !== undefined) throw new RefusedError(unknown)
}

function notMs(member: string): string {
  return `${member} must be milliseconds from 0 to ${MAX_WAIT_MS}`
}
