import { isObject } from '../../base/is-object.ts'
import type { AgentState } from '../agent/state.ts'
import type { Pid } from '../process/pid.ts'
import { hasEnded } from '../process/record.ts'
import type { ProcessRow } from '../process/row.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { NO_MEMORY } from './memory-note.ts'

/** Jobs of one agent that live at once: one at work, and one that waits for it. */
export const MAX_LIVE_JOBS = 2

/** The job to begin after a turn: none, or one under this key, which waits for the end of another one first. */
export type JobToBegin =
  | { readonly type: 'none' }
  | { readonly type: 'begin'; readonly key: string; readonly after: Pid | null }

/**
 * At most one job of an agent runs, and one more waits for its end. A job reads the session up to the moment when it begins to work: so one
 * that still waits covers this turn, too. `live`: the jobs that have not ended, the oldest first.
 */
export function jobToBegin(
  { memory = NO_MEMORY, head }: Pick<AgentState, 'memory' | 'head'>,
  live: readonly Pid[],
): JobToBegin {
  const [running, waiting] = live
  if (waiting !== undefined || head <= memory.through) return { type: 'none' }
  if (running !== undefined) return { type: 'begin', key: `memory:after:${running}`, after: running }
  return { type: 'begin', key: `memory:${memory.through}:${head}`, after: null }
}

/** The job that a job waits for, by its input. */
export function waitsFor(input: unknown): Pid | null {
  const after = isObject(input) ? input['after'] : undefined
  return typeof after === 'string' ? after : null
}

/** A job that this kernel no longer holds notes nothing: another attempt of it may be at work. */
export function refuseNote(job: Pid, row: ProcessRow | null, kernel: string): Refusal | undefined {
  if (row !== null && !hasEnded(row.record) && row.holder === kernel) return undefined
  return refusal('stale_fence', `${kernel} no longer runs ${job}.`, 'Stop: another attempt goes on with it.')
}
