import { type Refusal, refusal } from '../refusal.ts'
import type { ProcessRecord } from './record.ts'
import type { EndStatus } from './status.ts'

/** When a command that ended by itself is started again. */
export type RestartPolicy = {
  readonly on: 'never' | 'failure' | 'always'
  readonly delayMs?: number
  readonly maxDelayMs?: number
  readonly limit?: number
}

const DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
export const RESTART_LIMIT = 10
/** A process that ran for so long has recovered: the count and the delay start over. */
export const STEADY_MS = 10 * 60_000

/**
 * The delay before the next start, or null if there is none. `before`: how many restarts in a row led to this process.
 * A process that was stopped on request stays stopped.
 *
 * | it                  | never | failure  | always   |
 * | completed           | –     | –        | again    |
 * | failed, abandoned   | –     | again    | again    |
 * | cancelled           | –     | –        | –        |
 */
export function restartDelay(policy: RestartPolicy, status: EndStatus, before: number): number | null {
  const { on, delayMs = DELAY_MS, maxDelayMs = MAX_DELAY_MS, limit = RESTART_LIMIT } = policy
  if (on === 'never' || status === 'cancelled' || before >= limit) return null
  if (on === 'failure' && status === 'completed') return null
  return Math.min(maxDelayMs, delayMs * 2 ** Math.min(before, 30))
}

/**
 * Whether the process of a restart's idempotency key is the restart of `asked`. The name refers to the new process by now, so
 * the old pid, the new pid and the name all count.
 */
export function otherRestart({ pid, name, restartOf }: ProcessRecord, asked: string): Refusal | undefined {
  const isSame =
    restartOf !== null && (name === asked || restartOf.startsWith(asked) || pid.startsWith(asked))
  if (isSame) return undefined
  return refusal(
    'conflict',
    `The idempotency key was used for ${pid}, which is not a restart of ${asked}.`,
    'Give another key, or leave it out.',
  )
}
