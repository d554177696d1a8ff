import type { Pid } from '../process/pid.ts'
import type { EndStatus } from '../process/status.ts'
import { MAX_RUNNING, type Overlap, type Schedule, type ScheduleCounts } from './schedule.ts'
import type { Timetable } from './timetable.ts'

/** What is known when an occurrence is decided on. */
export interface OccurrenceFacts {
  readonly schedule: Schedule
  readonly timetable: Timetable
  readonly now: number
}

export interface DueFacts extends OccurrenceFacts {
  /** The time of the next occurrence, with its jitter. */
  readonly dueAt: number
}

/** What happens to a due occurrence. */
export type DueDecision =
  | {
      readonly type: 'start'
      readonly schedule: Schedule
      /** Running occurrences that are cancelled. */
      readonly cancel: readonly Pid[]
      /** The time of the next occurrence, if it is registered with this start. */
      readonly planned: number | null
    }
  /** It is ended without a start, and the next one is planned. */
  | {
      readonly type: 'drop'
      readonly reason: 'missed' | 'skipped'
      readonly schedule: Schedule
      readonly planned: number | null
    }

/** Of the times that a queue keeps while an occurrence runs. Older ones are skipped. */
const MAX_QUEUED = 100

/**
 * Decides on the next occurrence, which is due: it starts, or it is too late, and then the latest of the missed times within
 * the catch-up window runs instead. Either way one occurrence runs for a time without a kernel. `mayBeLate`: a person approved it.
 */
export function decideDue({ schedule, timetable, now, dueAt }: DueFacts, mayBeLate: boolean): DueDecision {
  const { next, running, overlap, catchUpMs } = schedule
  if (next === null) throw new Error(`The schedule ${schedule.id} has no next occurrence`)
  const dueFrom = Math.max(dueAt, next.plannedAt)
  const through = Math.max(next.at, now)
  if (!mayBeLate && now - dueFrom > catchUpMs) {
    const [latest] = timetable.recent(next.at, now, 1)
    const caughtUp = latest !== undefined && now - latest <= catchUpMs ? latest : null
    const missed = { ...schedule, next: null, decidedThrough: through, counts: counted(schedule, 'missed') }
    return { type: 'drop', reason: 'missed', schedule: missed, planned: caughtUp ?? timetable.next(through) }
  }
  if (running.length >= MAX_RUNNING) {
    const skipped = { ...schedule, next: null, decidedThrough: through, counts: counted(schedule, 'skipped') }
    return { type: 'drop', reason: 'skipped', schedule: skipped, planned: timetable.next(through) }
  }
  const started: Schedule = {
    ...schedule,
    next: null,
    running: [...running, { pid: next.pid, at: next.at }],
    decidedThrough: isSerial(overlap) ? Math.max(schedule.decidedThrough, next.at) : through,
    gap: now > dueFrom ? { from: dueFrom, until: now } : schedule.gap,
    counts: counted(schedule, 'started'),
  }
  return {
    type: 'start',
    schedule: started,
    cancel: overlap === 'cancelOther' ? running.map(({ pid }) => pid) : [],
    planned: isSerial(overlap) ? null : timetable.next(through),
  }
}

export interface EndDecision {
  readonly schedule: Schedule
  /** The time of the next occurrence, if it is registered with this end. */
  readonly planned: number | null
}

/** Decides what follows the end of an occurrence: one that was running, or one that ended before its start. */
export function decideEnd(
  { schedule, timetable, now }: OccurrenceFacts,
  pid: Pid,
  status: EndStatus,
): EndDecision {
  const { next } = schedule
  if (next?.pid === pid) {
    const through = Math.max(next.at, schedule.decidedThrough)
    const dropped = { ...schedule, next: null, decidedThrough: through, counts: counted(schedule, 'skipped') }
    return { schedule: dropped, planned: timetable.next(Math.max(through, now)) }
  }
  const ended = schedule.running.find((one) => one.pid === pid)
  if (ended === undefined) return { schedule, planned: null }
  const hasFailed = status === 'failed' || status === 'abandoned'
  const settled: Schedule = {
    ...schedule,
    running: schedule.running.filter((one) => one.pid !== pid),
    last: { pid, at: ended.at, status },
    counts: hasFailed ? counted(schedule, 'failed') : schedule.counts,
  }
  const isFollowed = settled.next === null && settled.running.length === 0 && isSerial(schedule.overlap)
  if (!isFollowed) return { schedule: settled, planned: null }
  return afterRun({ schedule: settled, timetable, now })
}

/** The time that follows a run of a serial schedule, and how many times passed during the run and do not run. */
function afterRun({ schedule, timetable, now }: OccurrenceFacts): EndDecision {
  const { decidedThrough, gap, overlap } = schedule
  const first = timetable.next(decidedThrough)
  const missedAlready = gap !== null && first !== null && first > gap.from && first <= gap.until
  const from = missedAlready ? gap.until : decidedThrough
  const planned = missedAlready ? timetable.next(from) : first
  if (planned === null || planned > now) return { schedule, planned }
  switch (overlap) {
    case 'queue': {
      const [oldest = planned] = timetable.recent(from, now, MAX_QUEUED)
      return { schedule, planned: oldest }
    }
    case 'bufferOne': {
      const [latest = planned] = timetable.recent(from, now, 1)
      return { schedule, planned: latest }
    }
    default: {
      const passed = timetable.recent(from, now, MAX_QUEUED).length
      const counts = { ...schedule.counts, skipped: schedule.counts.skipped + passed }
      return { schedule: { ...schedule, decidedThrough: now, counts }, planned: timetable.next(now) }
    }
  }
}

/** Whether the next occurrence is registered when the one before has ended. */
export function isSerial(overlap: Overlap): boolean {
  return overlap === 'skip' || overlap === 'queue' || overlap === 'bufferOne'
}

/** The first time of a schedule that is new, edited or resumed: times that have passed are not caught up with. */
export function firstTime({ schedule, timetable, now }: OccurrenceFacts): number | null {
  return timetable.next(Math.max(now, schedule.decidedThrough))
}

function counted({ counts }: Schedule, name: keyof ScheduleCounts): ScheduleCounts {
  return { ...counts, [name]: counts[name] + 1 }
}
