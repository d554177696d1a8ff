import { RefusedError } from '../core/errors.ts'
import { sameJson } from '../core/json/canonical.ts'
import { asJson } from '../core/json/json.ts'
import type { Placement } from '../core/placement/placement.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { refuseProcess, refuseSchedule, scheduleUnknown } from '../core/schedule/decide-schedule.ts'
import { boundAfterEdit, rightsFor, rightsOf } from '../core/schedule/occurrence-rights.ts'
import { firstTime, isSerial } from '../core/schedule/occurrences.ts'
import {
  type BackfillOverlap,
  isOpen,
  NO_COUNTS,
  type OccurrenceRights,
  type Schedule,
  type ScheduleDefinition,
  scheduleSession,
} from '../core/schedule/schedule.ts'
import { refuseTimes, type Timetable } from '../core/schedule/timetable.ts'
import { know } from '../store/contract.ts'
import {
  creatorOf,
  environmentUses,
  openDefinitionSession,
  placedRequest,
  refuseEnded,
} from './definition-scope.ts'
import type { Edges } from './edges.ts'
import type { Kernel } from './kernel.ts'
import {
  type BackfillFrom,
  cancelOccurrence,
  dueOccurrence,
  dueTime,
  MAX_BACKFILL,
  type OccurrencePlan,
  occurrenceAt,
  occurrencePid,
  pauseNow,
  planBackfill,
  planNext,
  timetableFor,
} from './occurrences.ts'
import { performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { orThrow } from './sessions.ts'
import { WorkingRows } from './working-rows.ts'

/** Of times that a backfill starts at once. */
const MAX_BACKFILL_AT_ONCE = 100
const PAGE = 100

export interface Backfilling {
  readonly from: number
  readonly until: number
  readonly overlap: BackfillOverlap
}

/** The acts on schedules. Their occurrences follow from each other in `occurrences.ts`. */
export class Schedules {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #here: () => readonly Placement[]

  constructor(edges: Edges, kernel: Kernel, here: () => readonly Placement[]) {
    this.#edges = edges
    this.#kernel = kernel
    this.#here = here
  }

  /** Adding a schedule again changes nothing; with another definition it is a conflict. */
  async add(actor: Actor, id: string, asked: ScheduleDefinition): Promise<Schedule> {
    const session = scheduleSession(id)
    const { parentSession, ceilings } = await creatorOf(this.#edges, actor)
    const definition = this.#placed(asked)
    await this.#check(definition)
    const known = await this.#edges.store.ask({ ask: 'schedule', id })
    if (known === null)
      await openDefinitionSession(this.#edges, actor, session, `schedule ${id}`, parentSession)
    const key = this.#edges.newId()
    const added = await this.#change(actor, 'addSchedule', id, function* (plan, was, at) {
      if (was !== null) return isSameDefinition(was, definition) ? was : alreadyThere(was)
      // Its last time may have passed since it was checked.
      const timetable = timetableFor(plan.edges, { times: definition.times, createdAt: at })
      const tooLate = refuseTimes(definition.times, timetable, at)
      if (tooLate !== undefined) return tooLate
      const schedule: Schedule = {
        ...definition,
        ...{ id, key, session, ceilings, revision: 1, createdBy: actor, createdAt: at, editedAt: at },
        ...{
          paused: null,
          next: null,
          running: [],
          decidedThrough: 0,
          gap: null,
          backfill: null,
          last: null,
        },
        counts: NO_COUNTS,
      }
      plan.rows.add([{ type: 'schedule', was: null, schedule }, ...environmentUses(schedule)])
      return yield* planFirst(plan, schedule, at)
    })
    return this.#registerOpen(added)
  }

  /** An edit counts from the next occurrence on. One that is due and has not started runs as edited. */
  async edit(actor: Actor, id: string, changes: Partial<ScheduleDefinition>): Promise<Schedule> {
    const { ceilings } = await creatorOf(this.#edges, actor)
    const placed =
      changes.request === undefined
        ? changes
        : { ...changes, request: placedRequest(changes.request, this.#here()) }
    if (changes.times !== undefined) await this.#check({ times: changes.times })
    const edited = await this.#change(actor, 'editSchedule', id, function* (plan, was, at) {
      if (was === null) return scheduleUnknown(id)
      const definition = { ...definitionOf(was), ...placed }
      const timetable = timetableFor(plan.edges, { ...definition, createdAt: was.createdAt })
      const invalid = refuseSchedule(definition, timetable, at)
      if (invalid !== undefined) return invalid
      const schedule: Schedule = {
        ...was,
        ...definition,
        ...boundAfterEdit(was, { actor, ceilings }, placed.request !== undefined),
        ...{ revision: was.revision + 1, editedAt: at, next: null, gap: null },
      }
      plan.rows.add([{ type: 'schedule', was, schedule }, ...environmentUses(schedule)])
      if (was.next === null) return yield* planFirst(plan, schedule, at)
      yield* cancelOccurrence(plan, was.next.pid, 'schedule_edited', at)
      const due = was.next.at
      const isStillDue =
        due <= at &&
        at - dueTime(plan.edges, was, due) <= schedule.catchUpMs &&
        timetable.recent(due - 1, due, 1).length > 0 &&
        !waitsForEnd(schedule)
      return isStillDue ? yield* planNext(plan, schedule, due, at) : yield* planFirst(plan, schedule, at)
    })
    return this.#registerOpen(edited)
  }

  pause(actor: Actor, id: string, note: string | null): Promise<Schedule> {
    return this.#change(actor, 'pauseSchedule', id, function* (plan, was, at) {
      if (was === null) return scheduleUnknown(id)
      if (was.paused !== null) return was
      return yield* pauseNow(plan, was, was, note ?? '', at, actor)
    })
  }

  /** Times that passed during the pause do not run. */
  async resume(actor: Actor, id: string): Promise<Schedule> {
    const resumed = await this.#change(actor, 'resumeSchedule', id, function* (plan, was, at) {
      if (was === null) return scheduleUnknown(id)
      if (was.paused === null) return was
      const ended = yield* refuseEnded({ noun: 'schedule', id }, was.session)
      if (ended !== undefined) return ended
      const decidedThrough = Math.max(was.decidedThrough, at)
      const isDropped = yield* wasDroppedByPause(plan, was, decidedThrough)
      const schedule: Schedule = {
        ...was,
        ...{ paused: null, gap: null, decidedThrough },
        revision: isDropped ? was.revision + 1 : was.revision,
      }
      plan.rows.add([{ type: 'schedule', was, schedule }])
      return yield* planFirst(plan, schedule, at)
    })
    return this.#registerOpen(resumed)
  }

  /** Occurrences that run go on; the one that has not started is cancelled. */
  async remove(actor: Actor, id: string): Promise<void> {
    await this.#change(actor, 'removeSchedule', id, function* (plan, was, at) {
      if (was === null) return scheduleUnknown(id)
      plan.rows.add([{ type: 'schedule_gone', id }])
      if (was.next !== null) yield* cancelOccurrence(plan, was.next.pid, 'schedule_removed', at)
      return was
    })
  }

  /** Starts an occurrence now, besides those of the schedule: whatever becomes of it, the schedule goes on as before. */
  async run(actor: Actor, id: string, idempotencyKey: string | undefined): Promise<ProcessRow> {
    const schedule = await this.#permitted(actor, 'runSchedule', id)
    const at = this.#edges.clock.now()
    const { request, ...occurrence } = occurrenceAt(schedule, at)
    const causedBy = { schedule: id, runBy: actor }
    const rights = await this.#rightsFor(actor, schedule)
    const key = idempotencyKey === undefined ? {} : { idempotencyKey }
    const [registered] = await this.#kernel.register([
      { ...occurrence, request: { ...request, causedBy }, ...rights, ...key },
    ])
    if (registered === undefined || registered.type === 'refused')
      throw new Error(`A run of ${id} without an answer`)
    return registered.row
  }

  /** Runs times of the past: one after the other, or all at once. A time that has run since the last edit does not run again. */
  async backfill(actor: Actor, id: string, { from, until, overlap }: Backfilling): Promise<Schedule> {
    await this.#edges.loadCron?.()
    const schedule = await this.#permitted(actor, 'backfillSchedule', id)
    const now = this.#edges.clock.now()
    const times = timetableFor(this.#edges, schedule).recent(from - 1, Math.min(until, now), MAX_BACKFILL + 1)
    const most = overlap === 'allow' ? MAX_BACKFILL_AT_ONCE : MAX_BACKFILL
    const refused = refuseBackfill(id, times.length, most, until > now)
    if (refused !== undefined) throw new RefusedError(refused)
    const rights = await this.#rightsFor(actor, schedule)
    if (overlap === 'allow') {
      await this.#kernel.register(
        times.map((at) => ({
          pid: occurrencePid(this.#edges, schedule, at),
          ...dueOccurrence(this.#edges, schedule, at),
          ...rights,
        })),
      )
      return schedule
    }
    return this.#change(actor, 'backfillSchedule', id, function* (plan, was, at) {
      if (was === null) return scheduleUnknown(id)
      if (was.backfill !== null) return backfillRuns(was)
      const [first] = timetableFor(plan.edges, was).recent(from - 1, until, MAX_BACKFILL)
      return first === undefined
        ? was
        : yield* planBackfill(plan, was, { at: first, until, ...boundTo(was, rights) }, at)
    })
  }

  async show(actor: Actor, id: string): Promise<Schedule> {
    const session = scheduleSession(id)
    const [schedule, found] = await Promise.all([
      this.#edges.store.ask({ ask: 'schedule', id }),
      this.#edges.store.ask({ ask: 'session', id: session }),
    ])
    const sessionsAbove = found?.sessionsAbove ?? []
    const denied = this.#edges.authorize(actor, 'read', { type: 'session', id: session, sessionsAbove })
    if (denied !== undefined) throw new RefusedError(denied)
    if (schedule === null) throw new RefusedError(scheduleUnknown(id))
    return schedule
  }

  list(after: string | null, limit: number): Promise<readonly Schedule[]> {
    return this.#edges.store.ask({ ask: 'schedules', after, limit })
  }

  /** The next times of a schedule, computed: only the first of them is registered. */
  async upcoming(schedule: Schedule, limit: number): Promise<number[]> {
    if (schedule.times.type === 'cron') await this.#edges.loadCron?.()
    const timetable = timetableFor(this.#edges, schedule)
    const times: number[] = []
    let after = Math.max(this.#edges.clock.now(), schedule.decidedThrough)
    while (times.length < limit) {
      const time = timetable.next(after)
      if (time === null) break
      times.push(time)
      after = time
    }
    return times
  }

  /** Registers the next occurrences of schedules whose commands the host has to look at first. */
  async registerAllOpen(): Promise<void> {
    const open = await this.#edges.store.ask({ ask: 'schedules', open: true, after: null, limit: PAGE })
    for (const schedule of open) await this.#registerOpen(schedule)
  }

  async #registerOpen(schedule: Schedule): Promise<Schedule> {
    const { next } = schedule
    if (next === null || !isOpen(schedule)) return schedule
    if (schedule.times.type === 'cron') await this.#edges.loadCron?.()
    const occurrence = dueOccurrence(this.#edges, schedule, next.at)
    let refused: string | null = null
    try {
      await this.#kernel.register([{ pid: next.pid, ...occurrence, ...rightsOf(schedule) }])
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      refused = error.message
    }
    return this.#change('host', 'registerSchedule', schedule.id, function* (plan, was, at) {
      if (was === null || was.next?.pid !== next.pid || !isOpen(was)) return was ?? schedule
      if (refused !== null) return yield* pauseNow(plan, was, { ...was, next: null }, refused, at)
      const { isOpen: _, ...known } = was.next
      const registered: Schedule = { ...was, next: known }
      plan.rows.add([{ type: 'schedule', was, schedule: registered }])
      return registered
    })
  }

  async #permitted(actor: Actor, action: string, id: string): Promise<Schedule> {
    return this.#change(actor, action, id, function* (_plan, was) {
      yield* nothing()
      return was ?? scheduleUnknown(id)
    })
  }

  /** A plan on one schedule. The session of the schedule says who may act on it. */
  #change(
    actor: Actor,
    action: string,
    id: string,
    decide: (plan: OccurrencePlan, was: Schedule | null, at: number) => PlanPart<Schedule | Refusal>,
  ): Promise<Schedule> {
    const edges = this.#edges
    const session = scheduleSession(id)
    return orThrow(edges, { actor, action, target: `session:${session}` }, function* () {
      const rows = new WorkingRows()
      const found = yield* know({ ask: 'session', id: session })
      const sessionsAbove = found?.sessionsAbove ?? []
      const denied = edges.authorize(actor, 'write', { type: 'session', id: session, sessionsAbove })
      if (denied !== undefined) return { answer: denied, changes: [] }
      const was = yield* rows.schedule(id)
      const answer = yield* decide({ edges, rows, performOne }, was, edges.clock.now())
      return { answer, changes: isRefusal(answer) ? [] : rows.changes }
    })
  }

  /** Refuses an expression or a zone that cannot be read, and times that never come. */
  async #check(definition: Pick<ScheduleDefinition, 'times'> & Partial<ScheduleDefinition>): Promise<void> {
    await this.#edges.loadCron?.()
    const now = this.#edges.clock.now()
    const { times, request } = definition
    const timetable = readTimetable(() => timetableFor(this.#edges, { times, createdAt: now }))
    const refused = isRefusal(timetable)
      ? timetable
      : (refuseTimes(times, timetable, now) ?? (request === undefined ? undefined : refuseProcess(request)))
    if (refused !== undefined) throw new RefusedError(refused)
  }

  async #rightsFor(actor: Actor, schedule: Schedule): Promise<OccurrenceRights> {
    return rightsFor({ actor, ceilings: (await creatorOf(this.#edges, actor)).ceilings }, schedule)
  }

  /** A command runs where the schedule was made, whichever kernel registers the occurrence. */
  #placed(definition: ScheduleDefinition): ScheduleDefinition {
    return { ...definition, request: placedRequest(definition.request, this.#here()) }
  }
}

/** A zone is looked up with the first time that is computed. */
function readTimetable(read: () => Timetable): Timetable | Refusal {
  try {
    const timetable = read()
    timetable.next(0)
    return timetable
  } catch (error) {
    return refusal(
      'invalid_input',
      `The times cannot be computed: ${error instanceof Error ? error.message : String(error)}`,
      'An expression has five fields (minute, hour, day, month, weekday), like 0 2 * * *, and a zone is like Europe/Berlin.',
      { field: 'times' },
    )
  }
}

/** While an occurrence of a serial schedule runs, its end plans the next one. */
function waitsForEnd({ running, overlap }: Schedule): boolean {
  return running.length > 0 && isSerial(overlap)
}

function* planFirst(plan: OccurrencePlan, schedule: Schedule, now: number): PlanPart<Schedule> {
  if (schedule.paused !== null || waitsForEnd(schedule)) return schedule
  const timetable = timetableFor(plan.edges, schedule)
  const first = firstTime({ schedule, timetable, now })
  return first === null ? schedule : yield* planNext(plan, schedule, first, now)
}

/** Whether the pause has cancelled the occurrence of the time that is next: then another process runs at that time. */
function* wasDroppedByPause(plan: OccurrencePlan, schedule: Schedule, after: number): PlanPart<boolean> {
  const time = timetableFor(plan.edges, schedule).next(after)
  if (time === null) return false
  const row = yield* plan.rows.process(occurrencePid(plan.edges, schedule, time))
  return row?.record.outcome?.reason === 'schedule_paused'
}

function* nothing(): PlanPart<void> {}

/** The part of a backfill that says whose rights its occurrences have, if they are not those of the schedule. */
function boundTo(schedule: Schedule, rights: OccurrenceRights): Pick<BackfillFrom, 'rights'> {
  return sameJson(asJson(rights), asJson(rightsOf(schedule))) ? {} : { rights }
}

function definitionOf(schedule: Schedule): ScheduleDefinition {
  const { times, jitterMs, overlap, catchUpMs, pauseOnFailure, request } = schedule
  return { times, jitterMs, overlap, catchUpMs, pauseOnFailure, request }
}

function isSameDefinition(schedule: Schedule, definition: ScheduleDefinition): boolean {
  return sameJson(asJson(definitionOf(schedule)), asJson(definition))
}

function alreadyThere({ id }: Schedule): Refusal {
  return refusal(
    'conflict',
    `There is a schedule ${id} already, and it is defined otherwise.`,
    `Edit it (reeve schedule edit ${id}), remove it, or choose another name.`,
    { schedule: id },
  )
}

function backfillRuns({ id, backfill }: Schedule): Refusal {
  return refusal(
    'busy',
    `A backfill of the schedule ${id} is under way: it runs ${backfill?.pid}.`,
    'Wait until it is done, or pause the schedule, which ends it.',
    { schedule: id, pid: backfill?.pid },
  )
}

function refuseBackfill(id: string, count: number, most: number, isFuture: boolean): Refusal | undefined {
  if (isFuture)
    return refusal(
      'invalid_input',
      'A backfill covers times of the past, and its end is in the future.',
      'Give an earlier end.',
      {
        field: 'until',
      },
    )
  if (count === 0)
    return refusal('invalid_input', `The schedule ${id} has no time in this range.`, 'Give another range.', {
      field: 'from',
    })
  if (count <= most) return undefined
  return refusal(
    'limit_exceeded',
    `The schedule ${id} has more than ${most} times in this range, which is the most of a backfill.`,
    'Give a shorter range.',
    { limit: 'backfill', most },
  )
}
