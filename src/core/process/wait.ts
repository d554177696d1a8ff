import type { MessageFilter } from '../message/message.ts'
import { awaitsApproval } from './gate.ts'
import type { ProcessRecord } from './record.ts'

export const WAITS = ['child', 'signal', 'message', 'approval', 'timer', 'input'] as const
export type WaitOn = (typeof WAITS)[number]

/** The awaited condition of a waiting process. `ordinal` counts its waits on that name, from 1. */
export interface Wait {
  readonly on: WaitOn
  readonly name: string
  readonly ordinal: number
  readonly since: number
  readonly until: number | null
  /** Of a workflow: the number of the step. */
  readonly stepIndex?: number
  /** Of a wait on messages: which messages end it. */
  readonly filter?: MessageFilter
}

/** Everything it waits for now. */
export function waitsOf({ wait, moreWaits }: ProcessRecord): readonly Wait[] {
  return wait === null ? moreWaits : [wait, ...moreWaits]
}

/** When a parked process goes on by itself; null if never. No time begins a process whose approval is pending. */
export function wakesAt(record: ProcessRecord): number | null {
  if (awaitsApproval(record)) return null
  return record.parked && record.status === 'waiting' ? dueIn(record) : null
}

/** The earliest deadline of its waits; or the end of its run limit, so that it is claimed and stopped then. */
export function dueIn(record: ProcessRecord): number | null {
  const { limits, firstStarted } = record
  const overAt = limits.runMs === undefined || firstStarted === null ? null : firstStarted.at + limits.runMs
  const times = [overAt, ...waitsOf(record).map(({ until }) => until)].filter((time) => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}
