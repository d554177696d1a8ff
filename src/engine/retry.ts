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
  return Math.round(Math.min(backoffMs * factor ** (tries - 1), maxBackoffMs))
}
