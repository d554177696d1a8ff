import type { JsonObject } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'

export const VERDICTS = ['started', 'queued', 'filtered', 'skipped', 'rejected'] as const
/**
 * What became of a delivery.
 *
 * | verdict  | meaning                                                        |
 * | started  | its process is registered                                      |
 * | queued   | it waits for the end of the occurrence before                  |
 * | filtered | it does not match the filter                                   |
 * | skipped  | an occurrence was running, and the overlap leaves it out       |
 * | rejected | it was refused, and the sender knows; one row stands for all of a minute |
 *
 * A repetition of a delivery is no delivery of its own: the trigger counts it.
 */
export type Verdict = (typeof VERDICTS)[number]

/** One thing that happened to a trigger: an event, a change of files, a request to its webhook. */
export interface Delivery {
  /** The pid of its process. A delivery without a process has it, too: it identifies the delivery. */
  readonly pid: Pid
  readonly trigger: string
  /** Counts the deliveries of the trigger. */
  readonly number: number
  /** As its source names it. */
  readonly id: string
  readonly at: number
  readonly verdict: Verdict
  /** Of a rejected one: why. */
  readonly reason: string | null
  /** The input of its process, until that is registered. */
  readonly payload: JsonObject | null
  /** The triggers that led to it, the first one first. */
  readonly chain: readonly string[]
}

/** Whether it is still needed: others are pruned. */
export function isWaiting({ verdict }: Delivery): boolean {
  return verdict === 'queued'
}

/** What became of a delivery that arrived. */
export type Delivered =
  /** `pid`: the process that it has, or will have. */
  | { readonly type: 'started' | 'queued'; readonly pid: Pid }
  | { readonly type: 'filtered' | 'skipped' }
  /** It was decided on before. */
  | { readonly type: 'duplicate'; readonly delivery: Delivery }
  /** Nothing was written. */
  | { readonly type: 'full' }
