import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { rightsOf } from '../core/schedule/occurrence-rights.ts'
import { decideDue, decideEnd } from '../core/schedule/occurrences.ts'
import {
  type NextOccurrence,
  type Occurrence,
  occurrenceText,
  roleOf,
  type Schedule,
  scheduleNamedBy,
} from '../core/schedule/schedule.ts'
import { type Timetable, timetableOf } from '../core/schedule/timetable.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { registerOccurrence } from './register-occurrence.ts'
import type { PerformOne } from './review.ts'
import type { WorkingRows } from './working-rows.ts'

/** The actor of decisions that a schedule makes by itself. */
const SCHEDULES: Actor = 'kernel:schedules'

/** Of times that one backfill may cover. */
export const MAX_BACKFILL = 1_000
/** Of times in a row that have run already. If there are more, the clock is wrong, or a person has to look. */
const MAX_RAN_BEFORE = 100
const RAN_BEFORE = `The next ${MAX_RAN_BEFORE} times have run already: look at the clock, then resume.`

/** What an occurrence needs besides the rows of its plan. */
export interface OccurrencePlan {
  readonly edges: Edges
  readonly rows: WorkingRows
  readonly performOne: PerformOne
}

/**
 * The start of a process, in the transaction that claims it. The next occurrence of a schedule starts with its consequences, or
 * is dropped because it is too late. Other processes start.
 */
export function* startOccurrence(
  plan: OccurrencePlan,
  row: ProcessRow,
  now: number,
): PlanPart<'start' | 'dropped'> {
  const { rows, edges } = plan
  const { pid, causedBy, firstStarted, gate } = row.record
  const named = firstStarted === null ? scheduleNamedBy(causedBy) : null
  const schedule = named === null ? null : yield* rows.schedule(named)
  if (schedule === null || roleOf(schedule, pid) !== 'next') return 'start'
  const timetable = timetableFor(edges, schedule)
  const dueAt = schedule.next === null ? now : dueTime(edges, schedule, schedule.next.at)
  const due = decideDue({ schedule, timetable, now, dueAt }, gate !== null)
  rows.add([{ type: 'schedule', was: schedule, schedule: due.schedule }])
  if (due.type === 'drop') yield* cancelOccurrence(plan, pid, `schedule_${due.reason}`, now)
  else for (const other of due.cancel) yield* cancelOccurrence(plan, other, 'schedule_overlap', now)
  if (due.planned !== null) yield* planNext(plan, due.schedule, due.planned, now)
  return due.type === 'start' ? 'start' : 'dropped'
}

/** The end of a process, in the transaction that writes it: an occurrence of a schedule is followed by the next one. */
export function* endOccurrence(plan: OccurrencePlan, record: ProcessRecord, now: number): PlanPart<void> {
  const { rows, edges } = plan
  const { pid, causedBy, outcome } = record
  const named = scheduleNamedBy(causedBy)
  const schedule = named === null ? null : yield* rows.schedule(named)
  const role = schedule === null ? null : roleOf(schedule, pid)
  if (schedule === null || role === null || outcome === null) return
  const timetable = timetableFor(edges, schedule)
  if (role === 'backfill') return yield* continueBackfill(plan, schedule, timetable, now)
  const { schedule: ended, planned } = decideEnd({ schedule, timetable, now }, pid, outcome.status)
  const hasFailed = ended.counts.failed > schedule.counts.failed
  if (hasFailed && schedule.pauseOnFailure) {
    yield* pauseNow(
      plan,
      schedule,
      ended,
      `${pid} ${outcome.status}${outcome.reason === null ? '' : `: ${outcome.reason}`}`,
      now,
    )
    return
  }
  rows.add([{ type: 'schedule', was: schedule, schedule: ended }])
  if (planned !== null) yield* planNext(plan, ended, planned, now)
}

/** Registers the occurrence of a time as the next one. If rules or limits refuse it, the schedule pauses and says why. */
export function* planNext(
  plan: OccurrencePlan,
  schedule: Schedule,
  time: number,
  now: number,
): PlanPart<Schedule> {
  const { rows, edges } = plan
  if (schedule.paused !== null) return schedule
  const timetable = timetableFor(edges, schedule)
  let was = schedule
  let at: number | null = time
  for (let count = 0; at !== null && count < MAX_RAN_BEFORE; count++) {
    const next: NextOccurrence = { pid: occurrencePid(edges, schedule, at), at, plannedAt: now }
    const planned: Schedule = { ...was, next }
    rows.add([{ type: 'schedule', was, schedule: planned }])
    const registered = yield* registerTime(plan, planned, next, now)
    if (registered === 'registered') return planned
    if (registered === 'unresolved') {
      const open: Schedule = { ...planned, next: { ...next, isOpen: true } }
      rows.add([{ type: 'schedule', was: planned, schedule: open }])
      return open
    }
    if (registered !== 'ran')
      return yield* pauseNow(plan, planned, { ...planned, next: null }, registered.refused, now)
    was = { ...planned, next: null, decidedThrough: Math.max(planned.decidedThrough, at) }
    rows.add([{ type: 'schedule', was: planned, schedule: was }])
    at = timetable.next(at)
  }
  // Without a next occurrence nothing would plan another one.
  return at === null ? was : yield* pauseNow(plan, was, was, RAN_BEFORE, now)
}

/** The next time of a backfill, and where it ends. */
export type BackfillFrom = Pick<NonNullable<Schedule['backfill']>, 'at' | 'until' | 'rights'>

/** Starts a backfill, or goes on with it, at this time. */
export function* planBackfill(
  plan: OccurrencePlan,
  schedule: Schedule,
  from: BackfillFrom,
  now: number,
): PlanPart<Schedule> {
  const { rows, edges } = plan
  const timetable = timetableFor(edges, schedule)
  const { until, rights } = from
  const bound = rights === undefined ? {} : { rights }
  let at: number | null = from.at
  for (let count = 0; at !== null && at <= until && count < MAX_BACKFILL; count++) {
    const pid = occurrencePid(edges, schedule, at)
    const planned: Schedule = { ...schedule, backfill: { until, at, pid, ...bound } }
    rows.add([{ type: 'schedule', was: schedule, schedule: planned }])
    const registered = yield* registerTime(plan, planned, { pid, at, plannedAt: now }, now, rights)
    if (registered === 'registered') return planned
    if (registered === 'unresolved')
      return yield* pauseNow(plan, planned, { ...planned, backfill: null }, UNRESOLVED_BACKFILL, now)
    if (registered !== 'ran')
      return yield* pauseNow(plan, planned, { ...planned, backfill: null }, registered.refused, now)
    at = timetable.next(at)
  }
  const done: Schedule = { ...schedule, backfill: null }
  rows.add([{ type: 'schedule', was: schedule, schedule: done }])
  return done
}

const UNRESOLVED_BACKFILL = 'The rules tell commands apart: backfill with the overlap allow, or run it now.'

function* continueBackfill(
  plan: OccurrencePlan,
  schedule: Schedule,
  timetable: Timetable,
  now: number,
): PlanPart<void> {
  const { backfill } = schedule
  if (backfill === null) return
  const following = schedule.paused === null ? timetable.next(backfill.at) : null
  const at = following ?? Number.POSITIVE_INFINITY
  yield* planBackfill(plan, schedule, { ...backfill, at }, now)
}

/** Pauses a schedule on its own account. Its next occurrence, if it is registered, does not start. */
export function* pauseNow(
  plan: OccurrencePlan,
  was: Schedule,
  schedule: Schedule,
  note: string,
  now: number,
  by: Actor = SCHEDULES,
): PlanPart<Schedule> {
  const paused: Schedule = {
    ...schedule,
    next: null,
    paused: { at: now, by, note: note === '' ? null : note },
  }
  plan.rows.add([{ type: 'schedule', was, schedule: paused }])
  if (schedule.next !== null) yield* cancelOccurrence(plan, schedule.next.pid, 'schedule_paused', now)
  return paused
}

/** Ends an occurrence that has not started, or asks a running one to stop. The row of the schedule has to be written before. */
export function* cancelOccurrence(
  plan: OccurrencePlan,
  pid: Pid,
  reason: string,
  at: number,
): PlanPart<void> {
  const { rows, edges, performOne } = plan
  const row = yield* rows.process(pid)
  if (row === null || hasEnded(row.record)) return
  const replayKey = `schedule:${reason}`
  yield* performOne(edges, rows, {
    type: 'stop',
    pid,
    how: 'cancel',
    reason,
    cause: null,
    replayKey,
    actor: SCHEDULES,
    at,
  })
}

export function timetableFor(
  { cron }: Pick<Edges, 'cron'>,
  { times, createdAt }: Pick<Schedule, 'times' | 'createdAt'>,
): Timetable {
  return timetableOf(times, createdAt, cron ?? noCron)
}

function noCron(): never {
  throw new Error('This kernel cannot compute cron expressions')
}

export function occurrencePid({ pidOf }: Pick<Edges, 'pidOf'>, schedule: Schedule, at: number): Pid {
  return pidOf(occurrenceText(schedule, at))
}

/** The occurrence of a time, as it is registered to start when it is due. */
export function dueOccurrence(
  edges: Pick<Edges, 'hash' | 'cron'>,
  schedule: Schedule,
  at: number,
): Occurrence {
  const occurrence = occurrenceAt(schedule, at)
  return { ...occurrence, request: { ...occurrence.request, notBefore: dueTime(edges, schedule, at) } }
}

/** The occurrence of a time, as it starts at once. */
export function occurrenceAt(schedule: Schedule, at: number): Occurrence {
  const { id, session } = schedule
  const { effects, ...request } = schedule.request
  return {
    ...(effects === undefined ? {} : { effects }),
    request: {
      definition: { schedule: id },
      ...request,
      owner: { session },
      causedBy: { schedule: id, scheduledAt: at },
    },
  }
}

/** A time with its jitter, the same in every kernel. Jitter ends before the time that follows: otherwise it would leave times out. */
export function dueTime(edges: Pick<Edges, 'hash' | 'cron'>, schedule: Schedule, at: number): number {
  if (schedule.jitterMs === 0) return at
  const following = timetableFor(edges, schedule).next(at) ?? Number.POSITIVE_INFINITY
  const most = Math.min(schedule.jitterMs, following - at)
  return at + Math.floor(fraction(edges.hash(occurrenceText(schedule, at))) * most)
}

/** From 0 to 1, from the first digits of a hash. */
function fraction(hash: string): number {
  return Number.parseInt(hash.slice(0, 8), 16) / 2 ** 32
}

function registerTime(
  plan: OccurrencePlan,
  schedule: Schedule,
  { pid, at }: NextOccurrence,
  now: number,
  rights = rightsOf(schedule),
) {
  return registerOccurrence(plan, rights, { pid, ...dueOccurrence(plan.edges, schedule, at) }, now)
}
