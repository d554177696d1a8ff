import type { Clock } from '../core/clock.ts'
import { ReeveError, unreadablePid } from '../core/errors.ts'
import type { Change, Commit, Plan, Question, Verdict } from './contract.ts'

/** A database connection for group commit: synchronous, one transaction at a time. */
export interface Transaction {
  /** Throws an error that `isBusy` recognises while another process writes. */
  begin(): void
  answer(question: Question): unknown
  apply(change: Change): void
  /** Null if the feed did not move. */
  commit(): Commit | null
  rollback(): void
  isBusy(error: unknown): boolean
  /** Whether the error is about one plan's changes, not about the database. */
  isPlanFault(error: unknown): boolean
  toStoreError(error: unknown, committing: boolean): unknown
}

export interface GroupCommitOptions {
  readonly clock: Clock
  readonly random: () => number
  /** Runs a task on the next turn of the loop. */
  readonly soon: (task: () => void) => void
  readonly onCommit: (commit: Commit) => void
}

/** Bounds the stall of the loop: a commit has at most this many plans, and the rest waits for the next. */
const MAX_BATCH = 256
/** How long a plan waits for a locked database, without blocking the loop, before it is rejected. */
const MAX_BUSY_MS = 5_000
const RETRY_MS = 4

interface Waiting {
  /** Inside the transaction. Returns how to answer the caller after the commit. */
  readonly run: () => () => void
  readonly since: number
  readonly reject: (error: unknown) => void
}

/**
 * Commits all plans that arrive in one turn of the loop together, and answers each caller after the commit.
 *
 * | state   | write                | turn                                            |
 * | idle    | waits, armed         | –                                               |
 * | armed   | waits                | commits up to MAX_BATCH plans; armed or idle    |
 * | backoff | waits                | after a jittered pause: armed                   |
 * | closed  | rejected             | –                                               |
 *
 * Plans of one batch run one after another in one transaction: each sees the changes of the plans before it.
 */
export class GroupCommit {
  readonly #transaction: Transaction
  readonly #options: GroupCommitOptions
  #waiting: Waiting[] = []
  #state: 'idle' | 'armed' | 'backoff' | 'closed' = 'idle'

  constructor(transaction: Transaction, options: GroupCommitOptions) {
    this.#transaction = transaction
    this.#options = options
  }

  /** Whether a transaction begins on the next turn of the loop. */
  get isArmed(): boolean {
    return this.#state === 'armed'
  }

  write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    if (this.#state === 'closed') return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      this.#wait({
        run: () => this.#runPlan(plan, resolve, reject),
        since: this.#options.clock.now(),
        reject,
      })
    })
  }

  /** Runs a task of the store itself in the transaction of the plans that wait. */
  run<Answer>(task: () => Answer): Promise<Answer> {
    if (this.#state === 'closed') return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const run = () => {
        const answer = task()
        return () => resolve(answer)
      }
      this.#wait({ run, since: this.#options.clock.now(), reject })
    })
  }

  /** Commits the writes that wait; later ones are rejected. */
  close(): void {
    if (this.#state === 'closed') return
    while (this.#waiting.length > 0 && this.#flush() !== 'busy');
    this.#state = 'closed'
    for (const { reject } of this.#waiting.splice(0)) reject(closedError())
  }

  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (this.#state === 'idle') this.#arm()
  }

  #arm(): void {
    this.#state = 'armed'
    this.#options.soon(() => {
      if (this.#state === 'armed') this.#turn()
    })
  }

  #turn(): void {
    if (this.#flush() === 'busy') {
      this.#backOff()
    } else if (this.#waiting.length > 0) {
      this.#arm()
    } else {
      this.#state = 'idle'
    }
  }

  #backOff(): void {
    const { clock, random } = this.#options
    this.#state = 'backoff'
    clock.after(1 + random() * RETRY_MS, () => {
      if (this.#state === 'backoff') this.#arm()
    })
  }

  #flush(): 'done' | 'busy' {
    const batch = this.#waiting.splice(0, MAX_BATCH)
    try {
      this.#transaction.begin()
    } catch (error) {
      if (this.#transaction.isBusy(error)) return this.#putBack(batch, error)
      for (const { reject } of batch) reject(this.#transaction.toStoreError(error, false))
      return 'done'
    }
    this.#run(batch)
    return 'done'
  }

  #putBack(batch: readonly Waiting[], error: unknown): 'busy' {
    const { clock } = this.#options
    const late = (waiting: Waiting) => clock.now() - waiting.since > MAX_BUSY_MS
    for (const { reject } of batch.filter(late)) reject(this.#transaction.toStoreError(error, false))
    this.#waiting.unshift(...batch.filter((waiting) => !late(waiting)))
    return 'busy'
  }

  #run(batch: readonly Waiting[]): void {
    const settle: (() => void)[] = []
    let committing = false
    let commit: Commit | null
    try {
      for (const { run } of batch) settle.push(run())
      committing = true
      commit = this.#transaction.commit()
    } catch (error) {
      this.#transaction.rollback()
      this.#failed(batch, error, committing)
      return
    }
    if (commit !== null) this.#options.onCommit(commit)
    for (const answer of settle) answer()
  }

  #runPlan<Answer>(
    plan: Plan<Answer>,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ): () => void {
    const steps = plan()
    let known: readonly unknown[] = []
    for (;;) {
      // A plan that throws has a defect, which is reported to its caller alone: nothing of it has been applied.
      let step: IteratorResult<readonly Question[], Verdict<Answer>>
      try {
        step = steps.next(known)
      } catch (error) {
        return () => reject(error)
      }
      if (step.done) {
        for (const change of step.value.changes) this.#transaction.apply(change)
        const { answer } = step.value
        return () => resolve(answer)
      }
      try {
        known = this.#answers(step.value)
      } catch (error) {
        // An unreadable row fails the plan that needs it, and no other.
        if (unreadablePid(error) === undefined) throw error
        return () => reject(error)
      }
    }
  }

  #answers(questions: readonly Question[]): readonly unknown[] {
    const answers: unknown[] = []
    for (const question of questions) answers.push(this.#transaction.answer(question))
    return answers
  }

  /** One plan's impossible change must not fail the other plans: each is tried alone. */
  #failed(batch: readonly Waiting[], error: unknown, committing: boolean): void {
    if (batch.length > 1 && this.#transaction.isPlanFault(error)) {
      this.#tryEach(batch)
      return
    }
    const reason = this.#transaction.toStoreError(error, committing)
    for (const { reject } of batch) reject(reason)
  }

  #tryEach(batch: readonly Waiting[]): void {
    for (const [index, waiting] of batch.entries()) {
      try {
        this.#transaction.begin()
      } catch (error) {
        if (this.#transaction.isBusy(error)) this.#waiting.unshift(...batch.slice(index))
        else for (const { reject } of batch.slice(index)) reject(this.#transaction.toStoreError(error, false))
        return
      }
      this.#run([waiting])
    }
  }
}

export function closedError(): ReeveError {
  return new ReeveError('closed', 'The store has been closed.', 'Open it again.')
}
