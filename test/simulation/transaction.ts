import type { Clock } from '../../src/core/clock.ts'
import type { Change, Commit, Question } from '../../src/store/contract.ts'
import type { Transaction } from '../../src/store/group-commit.ts'
import { toStoreError } from '../../src/store/sqlite/store-errors.ts'
import { perhapsFail, sqliteError } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { PlanList, WatchedPlan } from './plan-watch.ts'
import type { Stage } from './stage.ts'

/** The peer that has the connection. */
export interface Writer {
  readonly name: string
  readonly alive: boolean
  readonly clock: Clock
  readonly host: string
  die(how: string): void
  /** Nudges the other peers. */
  committed(): void
}

/** Wraps every write boundary of one kernel: injects faults and deaths, and records commits in the ledger. */
export class WatchedTransaction implements Transaction, PlanList {
  readonly #inner: Transaction
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #writer: Writer
  plans: WatchedPlan[] = []
  #changes: Change[] = []

  constructor(inner: Transaction, stage: Stage, ledger: Ledger, writer: Writer) {
    this.#inner = inner
    this.#stage = stage
    this.#ledger = ledger
    this.#writer = writer
  }

  begin(): void {
    // A close after its death writes nothing: the operating system closes files, it does not flush.
    if (!this.#writer.alive) throw sqliteError('die')
    this.plans = []
    this.#changes = []
    this.#mayFail('begin')
    this.#inner.begin()
  }

  answer(question: Question): unknown {
    this.#mayFail('answer')
    return this.#inner.answer(question)
  }

  apply(change: Change): void {
    this.#mayFail('apply')
    this.#inner.apply(change)
    this.#changes.push(change)
    this.#mayFail('applied')
  }

  commit(): Commit | null {
    this.#mayFail('commit')
    const commit = this.#inner.commit()
    for (const plan of this.plans) plan.committed = true
    this.#stage.say(
      this.#writer.name,
      `commits ${this.plans.length} plans: ${this.#changes.map(inShort).join(', ')}`,
    )
    this.#tellLedger()
    if (this.#changes.length > 0) this.#writer.committed()
    this.#mayFail('committed')
    return commit
  }

  rollback(): void {
    this.#inner.rollback()
  }

  isBusy(error: unknown): boolean {
    return this.#inner.isBusy(error)
  }

  isPlanFault(error: unknown): boolean {
    return this.#inner.isPlanFault(error)
  }

  toStoreError(error: unknown, committing: boolean): unknown {
    // With a fixed file name, because the real one differs in every run.
    return toStoreError(error, 'reeve.db', committing)
  }

  /** A defect of the simulator must not look like a failing disk. */
  #tellLedger(): void {
    try {
      const planned = this.plans.reduce((sum, { changes }) => sum + changes.length, 0)
      if (planned !== this.#changes.length)
        this.#stage.violated('one write path', `${this.#changes.length - planned} changes are of no plan`)
      const { clock, host } = this.#writer
      this.#ledger.committed(this.plans, { now: clock.now(), host })
    } catch (error) {
      this.#stage.violated(
        'the simulator is sound',
        error instanceof Error ? (error.stack ?? '') : String(error),
      )
    }
  }

  #mayFail(boundary: Parameters<typeof perhapsFail>[1]): void {
    perhapsFail(this.#stage, boundary, this.#writer.name, () => this.#writer.die(`at ${boundary}`))
  }
}

function inShort(change: Change): string {
  if (change.type !== 'process') return change.type
  const { record, holder, fence } = change.row
  const events = change.events.map(({ type }) => type).join('+') || 'lease'
  return `${record.pid} ${events} (${record.revision}, ${holder === null ? 'free' : holder} ${fence})`
}
