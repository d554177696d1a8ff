import type { Pid } from '../../../src/core/process/pid.ts'
import type { Outcome } from '../../../src/core/process/record.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import { type DefinitionLaw, LAWS } from './laws.ts'
import { firstAfter, listed } from './listed-times.ts'

const MAX_QUEUED = 100
const MAX_SKIPPED = 100

interface Occurrence {
  readonly pid: Pid
  /** The scheduled time. */
  readonly time: number
  /** That time with its jitter. */
  readonly dueAt: number
  readonly registeredAt: number
}

/** When something was decided. An event is not before the one before it, so the clock may have said less. */
interface Moment {
  readonly at: number
  readonly isExact: boolean
}

/** The part of a row that its owner decides. The rest of it is computed here again, and not looked at. */
type Definition = Pick<
  Schedule,
  'times' | 'overlap' | 'jitterMs' | 'catchUpMs' | 'pauseOnFailure' | 'createdAt' | 'revision' | 'editedAt'
>

/**
 * One schedule, as commits tell it: a second opinion on which time follows which, from the list of all its times. After each start, end
 * and act it knows the time that the same commit has to register, or that it has to register none.
 */
export class ScheduleModel {
  readonly key: string
  readonly #broke: (law: DefinitionLaw, what: string) => void
  #definition: Definition
  #isPaused = false
  /** Each process of a time, by revision and time, backfills too. */
  readonly #registered = new Set<string>()
  /** Times that have started, backfills excepted. */
  readonly #started = new Set<number>()
  #next: Occurrence | null = null
  readonly #running = new Map<Pid, Occurrence>()
  /** No time up to it is planned again. */
  #decided = 0
  /** The last start was late: times in the range were missed, and are not queued. */
  #late: { readonly from: number; readonly until: number } | null = null
  #backfill: { readonly pid: Pid; readonly time: number; readonly until: number } | null = null
  readonly #backfills = new Set<Pid>()
  /** In the open commit: the time that has to be registered; null: none; undefined: nothing was decided. */
  #due: number | null | undefined
  /** The decision may have been made by an earlier clock: this time, or one in between, may be registered as well. */
  #earliest: number | null = null
  #backfillDue: number | null | undefined
  #mustPause = false

  constructor({ key, ...row }: Schedule, broke: (law: DefinitionLaw, what: string) => void) {
    this.key = key
    this.#broke = (law, what) => broke(law, `${row.id}: ${what}`)
    this.#definition = row
    this.#expect(this.#after(row.createdAt))
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** The row was written: by an act, or by a decision that is computed here as well. */
  row(was: Schedule, now: Schedule, at: number): void {
    const { backfill } = now
    if (backfill !== null && !this.#registered.has(this.#name(backfill.at))) {
      this.#backfill = { pid: backfill.pid, time: backfill.at, until: backfill.until }
      this.#backfills.add(backfill.pid)
    } else if (backfill === null) this.#backfill = null
    if (was.paused === null && now.paused !== null) this.#pause(now)
    else if (was.paused !== null && now.paused === null) this.#resume(now, at)
    else if (was.revision !== now.revision) this.#edit(now)
  }

  registered({ pid, time, dueAt, registeredAt }: Occurrence, isBackfillOf: (time: number) => boolean): void {
    if (this.#registered.has(this.#name(time))) this.#broke(LAWS.once, `${time} has another process, ${pid}`)
    if (dueAt < time || dueAt > time + this.#definition.jitterMs)
      this.#broke(LAWS.window, `${time} is to start at ${dueAt}, outside of its jitter`)
    this.#registered.add(this.#name(time))
    if (this.#backfills.has(pid)) {
      if (this.#backfillDue !== undefined && this.#backfillDue !== time)
        this.#broke(LAWS.policy, `its backfill goes on at ${time}, and should at ${this.#backfillDue}`)
      this.#backfillDue = undefined
    } else if (this.#due === undefined || this.#due === null) {
      this.#backfills.add(pid)
      if (!isBackfillOf(time)) this.#broke(LAWS.policy, `${time} is registered, and is not due`)
    } else {
      const earliest = this.#earliest
      const isBetween =
        earliest !== null && earliest <= time && time < this.#due && this.#after(time - 1) === time
      if (isBetween) {
        this.#decided = time - 1
        this.#late = null
      } else if (this.#due !== time)
        this.#broke(LAWS.policy, `${time} is registered, and ${this.#due} follows`)
      this.#next = { pid, time, dueAt, registeredAt }
      this.#due = undefined
      this.#earliest = null
    }
  }

  /** The first start of a process; a later one changes nothing. `stopped`: the processes that are being stopped, or have ended. */
  begun(pid: Pid, { at, isExact }: Moment, isStopped: (pid: Pid) => boolean): void {
    const next = this.#next
    if (this.#running.has(pid) || this.#backfills.has(pid)) return
    if (next?.pid !== pid) {
      this.#broke(LAWS.policy, `${pid} starts, and is not its next occurrence`)
      return
    }
    const { time } = next
    const { overlap, catchUpMs } = this.#definition
    const due = Math.max(next.dueAt, next.registeredAt)
    if (at < next.dueAt) this.#broke(LAWS.window, `${time} starts ${next.dueAt - at} ms early`)
    if (isExact && at - due > catchUpMs) this.#broke(LAWS.window, `${time} starts ${at - due} ms late`)
    if (this.#started.has(time)) this.#broke(LAWS.once, `${time} starts again`)
    this.#started.add(time)
    if (this.#isSerial && this.#running.size > 0)
      this.#broke(LAWS.overlap, `${time} starts while ${[...this.#running.keys()]} run`)
    if (overlap === 'cancelOther')
      for (const other of this.#running.keys())
        if (!isStopped(other)) this.#broke(LAWS.overlap, `${time} starts, and ${other} is not cancelled`)
    this.#running.set(pid, next)
    this.#next = null
    if (at > due) this.#late = { from: due, until: at }
    this.#decided = this.#isSerial ? Math.max(this.#decided, time) : Math.max(time, at)
    this.#expect(this.#isSerial ? null : this.#after(this.#decided))
    if (!isExact) this.#earliest = this.#after(time)
  }

  ended(pid: Pid, { status, reason, endedAt: at }: Outcome, isExact: boolean): void {
    if (this.#backfill?.pid === pid) this.#continueBackfill(this.#backfill)
    else if (this.#next?.pid === pid) this.#dropped(this.#next, { at, isExact }, reason === 'schedule_missed')
    const ran = this.#running.get(pid)
    if (ran === undefined) return
    this.#running.delete(pid)
    const hasFailed = status === 'failed' || status === 'abandoned'
    if (hasFailed && this.#definition.pauseOnFailure) this.#mustPause = !this.#isPaused
    else if (this.#isSerial && this.#next === null && this.#running.size === 0)
      this.#expect(this.#afterRun(at))
  }

  /** The commit is complete. */
  closed(): void {
    if (this.#mustPause) this.#broke(LAWS.pauses, 'an occurrence failed, and it is not paused')
    if (!this.#isPaused && typeof this.#due === 'number')
      this.#broke(LAWS.policy, `${this.#due} follows, and is not registered`)
    if (!this.#isPaused && typeof this.#backfillDue === 'number')
      this.#broke(LAWS.policy, `its backfill should go on at ${this.#backfillDue}`)
    this.#due = undefined
    this.#backfillDue = undefined
  }

  /** `isLive`: whether a process has not ended. */
  atRest(now: number, isLive: (pid: Pid) => boolean): void {
    if (this.#isPaused || (this.#isSerial && [...this.#running.keys()].some(isLive))) return
    if (this.#next !== null && isLive(this.#next.pid)) return
    const following = this.#after(this.#decided)
    if (following !== null)
      this.#broke(LAWS.planned, `nothing is planned at ${now}, and ${following} follows`)
  }

  get #isSerial(): boolean {
    return !['allow', 'cancelOther'].includes(this.#definition.overlap)
  }

  #name(time: number): string {
    return `${this.#definition.revision} ${time}`
  }

  #after(time: number): number | null {
    return firstAfter(this.#definition.times, this.#definition.createdAt, time)
  }

  /** A time that has a process already, by a backfill, is left out. */
  #expect(time: number | null): void {
    let due = time
    for (let count = 0; due !== null && this.#registered.has(this.#name(due)); count++) {
      this.#decided = Math.max(this.#decided, due)
      due = count < MAX_SKIPPED ? this.#after(due) : null
    }
    this.#due = this.#isPaused ? null : due
  }

  #edit(now: Schedule): void {
    const { editedAt: at } = now
    const was = this.#next
    this.#definition = now
    this.#next = null
    this.#late = null
    if (this.#isPaused || (this.#isSerial && this.#running.size > 0)) return
    const isStillDue =
      was !== null &&
      was.time <= at &&
      at - was.dueAt <= now.catchUpMs &&
      listed(now.times, now.createdAt, was.time - 1, was.time).length > 0
    this.#expect(isStillDue ? was.time : this.#after(Math.max(at, this.#decided)))
  }

  #pause({ paused }: Schedule): void {
    const isByItself = paused?.by === 'kernel:schedules'
    if (isByItself && !this.#mustPause) this.#broke(LAWS.pauses, `it pauses: ${paused.note}`)
    this.#mustPause = false
    this.#isPaused = true
    this.#next = null
  }

  #resume(now: Schedule, at: number): void {
    this.#isPaused = false
    this.#definition = now
    this.#late = null
    this.#decided = Math.max(this.#decided, at)
    if (!this.#isSerial || this.#running.size === 0) this.#expect(this.#after(this.#decided))
  }

  /** The next occurrence ends before its start: it was too late, or a client cancelled it. */
  #dropped({ time, dueAt, registeredAt }: Occurrence, { at, isExact }: Moment, isMissed: boolean): void {
    this.#next = null
    const { times, createdAt, catchUpMs } = this.#definition
    if (!isMissed) {
      this.#decided = Math.max(this.#decided, time)
      this.#expect(this.#after(Math.max(this.#decided, at)))
      return
    }
    const late = at - Math.max(dueAt, registeredAt)
    if (late <= catchUpMs) this.#broke(LAWS.window, `${time} is missed, and only ${late} ms late`)
    if (!isExact) this.#earliest = this.#after(time)
    this.#decided = Math.max(time, at)
    const latest = listed(times, createdAt, time, at).at(-1)
    this.#expect(latest !== undefined && at - latest <= catchUpMs ? latest : this.#after(this.#decided))
  }

  /** After a run that ended at this time, without one beside it. */
  #afterRun(at: number): number | null {
    const { times, createdAt, overlap } = this.#definition
    const first = this.#after(this.#decided)
    const late = this.#late
    const isMissed = late !== null && first !== null && first > late.from && first <= late.until
    const from = isMissed ? late.until : this.#decided
    const passed = listed(times, createdAt, from, at)
    if (passed.length === 0) return this.#after(from)
    if (overlap === 'bufferOne') return passed.at(-1) ?? null
    if (overlap === 'queue') return passed.slice(-MAX_QUEUED)[0] ?? null
    this.#decided = at
    return this.#after(at)
  }

  #continueBackfill({ time, until }: { readonly time: number; readonly until: number }): void {
    if (this.#isPaused) return
    let following = this.#after(time)
    while (following !== null && this.#registered.has(this.#name(following)))
      following = this.#after(following)
    this.#backfillDue = following === null || following > until ? null : following
  }
}
