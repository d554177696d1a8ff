import type { Pid } from '../../../src/core/process/pid.ts'
import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import type { Change } from '../../../src/store/contract.ts'
import type { Check, CommittedPlan, Committer, Ledger } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'
import { ScheduleModel } from './schedule-model.ts'

/** A backfill that a client has asked for. */
export interface AskedBackfill {
  readonly schedule: string
  readonly from: number
  readonly until: number
}

/** Tells the model of each schedule what each commit did, change by change. */
export class ScheduleLaws implements Check {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #models = new Map<string, ScheduleModel>()
  /** The schedule of each occurrence. A run that a client started is none. */
  readonly #schedules = new Map<Pid, ScheduleModel>()
  readonly #begun = new Set<Pid>()
  readonly #stopped = new Set<Pid>()
  readonly backfills: AskedBackfill[] = []

  constructor(stage: Stage, ledger: Ledger) {
    this.#stage = stage
    this.#ledger = ledger
  }

  plan({ changes }: CommittedPlan, { now }: Committer): void {
    // A start is the reason of the other changes of its commit, and the last one of them.
    for (const change of changes) if (change.type === 'process') this.#noteStops(change)
    for (const change of changes) if (change.type === 'process') this.#noteStarts(change)
    for (const change of changes) {
      if (change.type === 'schedule') this.#row(change.was, change.schedule, now)
      if (change.type === 'schedule_gone') this.#models.delete(change.id)
      if (change.type === 'process') this.#process(change)
    }
    for (const model of this.#models.values()) model.closed()
  }

  atRest(): void {
    const isLive = (pid: Pid) => this.#ledger.processes.get(pid)?.record.outcome === null
    for (const model of this.#models.values()) model.atRest(this.#stage.now, isLive)
  }

  #row(was: Schedule | null, schedule: Schedule, now: number): void {
    const model = this.#models.get(schedule.id)
    if (was !== null && model !== undefined) model.row(was, schedule, now)
    else
      this.#models.set(
        schedule.id,
        new ScheduleModel(schedule, (law, what) => this.#stage.violated(law, what)),
      )
  }

  #noteStops({ row: { record } }: Extract<Change, { type: 'process' }>): void {
    if (record.stopRequest !== null || record.outcome !== null) this.#stopped.add(record.pid)
  }

  #noteStarts({ events, was }: Extract<Change, { type: 'process' }>): void {
    for (const { type, pid, at } of events) {
      const model = this.#modelOf(pid)
      if (type !== 'started' || model === undefined || this.#begun.has(pid)) continue
      this.#begun.add(pid)
      model.begun(pid, { at, isExact: at !== was?.record.updatedAt }, (other) => this.#stopped.has(other))
    }
  }

  /** None if the schedule is gone, even if there is another one of its name. */
  #modelOf(pid: Pid): ScheduleModel | undefined {
    const known = this.#schedules.get(pid)
    return [...this.#models.values()].find((model) => model === known)
  }

  #process({ events, was, row }: Extract<Change, { type: 'process' }>): void {
    for (const event of events) {
      const { pid, at } = event
      const cause = payloadOf(event, 'registered')?.causedBy
      const model = this.#models.get(String(cause?.['schedule']))
      if (cause != null && cause['runBy'] === undefined && model !== undefined) {
        this.#schedules.set(pid, model)
        const schedule = String(cause['schedule'])
        const isAsked = (time: number) =>
          this.backfills.some((one) => one.schedule === schedule && one.from <= time && time <= one.until)
        const time = Number(cause['scheduledAt'])
        const postponed = events.flatMap((one) => payloadOf(one, 'postponed')?.until ?? [])
        model.registered({ pid, time, dueAt: postponed[0] ?? time, registeredAt: at }, isAsked)
      }
    }
    const { pid, outcome } = row.record
    if (outcome !== null && was?.record.outcome == null) {
      const isExact = outcome.endedAt !== was?.record.updatedAt
      this.#modelOf(pid)?.ended(pid, outcome, isExact)
    }
  }
}
