import { type Evidence, hasEnded } from '../process/record.ts'
import type { ProcessRow } from '../process/row.ts'

export interface Backoff {
  readonly baseMs: number
  readonly maxMs: number
}

/** `removed`: an operator has declared it dead. */
export type HolderState = 'live' | 'dead' | 'removed'

export type Verdict =
  | { readonly type: 'leave' }
  | { readonly type: 'put_back'; readonly retryAt: number }
  | { readonly type: 'abandon'; readonly evidence: Evidence }
  | { readonly type: 'give_up'; readonly reason: 'attempts_exhausted' }
  | { readonly type: 'settle_stop' }

/**
 * What recovery does with a process that has a holder.
 *
 * | process                          | holder dead, or removed                       | holder live or silent |
 * | external                         | leave                                         | leave                 |
 * | asked to be abandoned            | abandon: `requested`                          | leave                 |
 * | command                          | leave: its keeper's kernel settles it; of a removed keeper: abandon, `keeper_lost` | leave |
 * | bound, started                   | abandon: `holder_dead`                        | leave                 |
 * | being stopped                    | settle the stop                               | leave                 |
 * | not started                      | put back                                      | leave                 |
 * | rerunnable, attempts left        | put back, after a backoff from the second on  | leave                 |
 * | rerunnable, no attempts left     | give up                                       | leave                 |
 *
 * Crashes never end an agent that Reeve drives: they end its turn. Attempts count from the last step that a workflow ended: one that makes progress may lose any number of holders.
 * `jitter` is between 0 and 1. The first loss costs no delay: a deployment must not slow every process down.
 */
export function verdict(
  row: ProcessRow,
  holder: HolderState,
  at: number,
  jitter: number,
  backoff: Backoff,
): Verdict {
  const { record } = row
  if (holder === 'live' || row.holder === null || hasEnded(record)) return { type: 'leave' }
  if (record.recovery === 'external') return { type: 'leave' }
  if (record.abandonRequest !== null) return { type: 'abandon', evidence: 'requested' }
  if (record.kind === 'command')
    return holder === 'removed' ? { type: 'abandon', evidence: 'keeper_lost' } : { type: 'leave' }
  const started = record.firstStarted !== null
  if (started && record.recovery === 'bound') return { type: 'abandon', evidence: 'holder_dead' }
  if (record.stopRequest !== null) return { type: 'settle_stop' }
  if (!started) return { type: 'put_back', retryAt: at }
  if (record.agent !== null) {
    const crashes = (record.agent.turn?.crashes ?? 0) + 1
    return { type: 'put_back', retryAt: at + delay(crashes, jitter, backoff) }
  }
  const attempts = record.attempts - (record.journal?.attempts ?? 0)
  if (attempts >= record.limits.attempts) return { type: 'give_up', reason: 'attempts_exhausted' }
  return { type: 'put_back', retryAt: at + delay(attempts, jitter, backoff) }
}

function delay(attempts: number, jitter: number, { baseMs, maxMs }: Backoff): number {
  if (attempts <= 1) return 0
  return Math.round(Math.min(baseMs * 2 ** (attempts - 2), maxMs) * (0.5 + jitter / 2))
}
