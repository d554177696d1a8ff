import type { Ceiling } from '../capability/ceiling.ts'
import type { Need } from '../capability/need.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor } from '../process/record.ts'
import type { RegistrationRequest } from '../process/registration-request.ts'
import type { EndStatus } from '../process/status.ts'
import type { TimesDefinition } from './timetable.ts'

export const OVERLAPS = ['skip', 'queue', 'bufferOne', 'cancelOther', 'allow'] as const
/**
 * What happens at a scheduled time while the occurrence before is still running.
 *
 * | overlap     | at that time                                        | the next occurrence is registered |
 * | skip        | nothing                                             | when the one before ends          |
 * | queue       | it runs when the one before ends, and so do others  | when the one before ends          |
 * | bufferOne   | the latest of such times runs when the one before ends | when the one before ends       |
 * | cancelOther | it starts, and the one before is cancelled          | when the one before starts        |
 * | allow       | it starts                                           | when the one before starts        |
 */
export type Overlap = (typeof OVERLAPS)[number]

/** The overlaps of a backfill: with the others most of its times would silently not run. */
export const BACKFILL_OVERLAPS = ['queue', 'allow'] as const
export type BackfillOverlap = (typeof BACKFILL_OVERLAPS)[number]

/** The part of a schedule that its owner chooses. */
export interface ScheduleDefinition {
  readonly times: TimesDefinition
  /** A random delay of each occurrence, at most this long. */
  readonly jitterMs: number
  readonly overlap: Overlap
  /** How late an occurrence may start. A later one is missed. */
  readonly catchUpMs: number
  readonly pauseOnFailure: boolean
  /** The process of each occurrence. */
  readonly request: OccurrenceRequest
}

/** A registration without the members that differ between occurrences or belong to one process. */
export interface OccurrenceRequest
  extends Omit<
    RegistrationRequest,
    'parent' | 'restartOf' | 'notBefore' | 'group' | 'owner' | 'causedBy' | 'ifRunning' | 'grants'
  > {
  /** What the image of an agent names in advance: each occurrence is ruled on with it. */
  readonly effects?: readonly Need[]
}

/** An occurrence as it is registered. */
export interface Occurrence {
  readonly request: RegistrationRequest
  readonly effects?: readonly Need[]
}

/** An occurrence that is registered, or about to be, and has not started. */
export interface NextOccurrence {
  readonly pid: Pid
  /** The scheduled time. */
  readonly at: number
  /** When it was planned: lateness counts from here, if the scheduled time was before. */
  readonly plannedAt: number
  /** The host has to look at its command first: a sweep registers it. */
  readonly isOpen?: true
}

export interface PausedDefinition {
  readonly at: number
  readonly by: Actor
  readonly note: string | null
}

/** A stored definition of processes that run at certain times. It does not run itself. */
export interface Schedule extends ScheduleDefinition {
  readonly id: string
  /** Random, so that the pids of its occurrences cannot be known in advance, and a later schedule of this name has others. */
  readonly key: string
  /** Raised by each edit, and by a resume whose pause has dropped the next time: another process may run at the same time. */
  readonly revision: number
  /** The session that its occurrences belong to. */
  readonly session: string
  /** The actor whose rights its occurrences have: the one that chose their process, or an agent that edited the schedule since. */
  readonly createdBy: Actor
  /** The ceilings that this actor had then, and those of agents that edited the schedule since. */
  readonly ceilings: readonly Ceiling[]
  readonly createdAt: number
  readonly editedAt: number
  readonly paused: PausedDefinition | null
  readonly next: NextOccurrence | null
  /** Occurrences that have started and not ended, the oldest first. */
  readonly running: readonly { readonly pid: Pid; readonly at: number }[]
  /** The last scheduled time that was decided on: no time up to it is planned again, whatever the clock says. */
  readonly decidedThrough: number
  /** Times in this range were missed while an occurrence waited for a kernel: they are not queued. */
  readonly gap: { readonly from: number; readonly until: number } | null
  readonly backfill: Backfill | null
  readonly last: { readonly pid: Pid; readonly at: number; readonly status: EndStatus } | null
  readonly counts: ScheduleCounts
}

/** Times in the past that run one after the other. */
interface Backfill {
  readonly until: number
  /** The time that runs now. */
  readonly at: number
  readonly pid: Pid
  /** Whose rights its occurrences have, if they are not those of the schedule: an agent asked for it. */
  readonly rights?: OccurrenceRights
}

/** What the registration of an occurrence is bound by. */
export interface OccurrenceRights {
  readonly actor: Actor
  readonly ceilings?: readonly Ceiling[]
}

export interface ScheduleCounts {
  readonly started: number
  /** Times that passed while the occurrence before was running. */
  readonly skipped: number
  /** Times that passed while no kernel could start the occurrence. */
  readonly missed: number
  readonly failed: number
}

export const NO_COUNTS: ScheduleCounts = { started: 0, skipped: 0, missed: 0, failed: 0 }

/** Occurrences of one schedule that run at once, with the overlap `allow`. More are skipped. */
export const MAX_RUNNING = 100

/** The session of the occurrences of a schedule. */
export function scheduleSession(id: string): string {
  return `schedule:${id}`
}

/** The schedule that a process says it is an occurrence of. Only the row of the schedule proves it: see `isOccurrence`. */
export function scheduleNamedBy(causedBy: Readonly<Record<string, unknown>> | null): string | null {
  const named = causedBy?.['schedule']
  return typeof named === 'string' ? named : null
}

/** Whether a sweep has to register its next occurrence. */
export function isOpen({ next }: Schedule): boolean {
  return next?.isOpen === true
}

export type OccurrenceRole = 'next' | 'running' | 'backfill'

/** The part of a process in a schedule; null if it is none of its occurrences. */
export function roleOf({ next, running, backfill }: Schedule, pid: Pid): OccurrenceRole | null {
  if (next?.pid === pid) return 'next'
  if (running.some((one) => one.pid === pid)) return 'running'
  return backfill?.pid === pid ? 'backfill' : null
}

/** The text that the pid of an occurrence follows from. */
export function occurrenceText({ key, revision }: Schedule, at: number): string {
  return `schedule ${key} ${revision} ${at}`
}
