import { ReeveError } from '../core/errors.ts'
import type { Ending } from '../core/process/intent.ts'
import { hasEnded } from '../core/process/record.ts'
import type { Attempt } from './attempt.ts'
import type { Edges } from './edges.ts'
import type { Executor, Left, Lost, Parked } from './executor.ts'
import { endingOfThrown, type FinalAnswer, FinalWrites, isRefused } from './final-writes.ts'
import type { Kernel } from './kernel.ts'
import type { RunningAttempts } from './running-attempts.ts'
import type { ServedProcesses } from './served-processes.ts'
import { StoreFinalWrites } from './store-final-writes.ts'

const RETRY_MS = 200
const MAX_RETRY_MS = 5_000

export interface AttemptRunsOptions {
  readonly served: ServedProcesses
  readonly running: RunningAttempts
  readonly holder: () => string
  readonly isClosed: () => boolean
}

/** Runs attempts with their executors, and finishes them: each is ended, released or parked. */
export class AttemptRuns {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #options: AttemptRunsOptions
  readonly #target: StoreFinalWrites
  readonly #writes: FinalWrites

  constructor(edges: Edges, kernel: Kernel, options: AttemptRunsOptions) {
    this.#edges = edges
    this.#kernel = kernel
    this.#options = options
    this.#target = new StoreFinalWrites(edges, options.holder, options.isClosed)
    this.#writes = new FinalWrites(this.#target)
  }

  async run(executor: Executor, attempt: Attempt): Promise<void> {
    const ending = await this.#endingOf(executor, attempt)
    if (ending?.status === 'parked') this.#options.running.forget(attempt)
    else if (ending?.status === 'left') await this.#release(attempt)
    else if (ending !== undefined)
      this.#finish(attempt, await this.#writes.end(attempt, ending, `end:${attempt.fenceNumber}`))
  }

  /** Writes the end of a killed attempt at once, without waiting for its code. */
  async endKilled(attempt: Attempt): Promise<void> {
    const replayKey = `kill:${attempt.fenceNumber}`
    this.#finish(attempt, await this.#writes.end(attempt, { status: 'cancelled' }, replayKey))
  }

  /** Writes that an attempt was not seen to stop within its grace. */
  async giveUpStop(attempt: Attempt): Promise<'done' | 'not_yet'> {
    const answer = await this.#writes.giveUpStop(attempt)
    if (answer === 'not_yet') return answer
    if (!attempt.over) this.#finish(attempt, answer)
    return 'done'
  }

  /** Undefined if the end is not to be written here. */
  async #endingOf(executor: Executor, attempt: Attempt): Promise<Ending | Lost | Parked | Left | undefined> {
    for (let delay = RETRY_MS; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
      try {
        return await executor.run(attempt, this.#kernel)
      } catch (error) {
        if (this.#options.served.keeping === undefined) return endingOfThrown(attempt, error)
        if (attempt.over) return undefined
        // An error here says nothing about the program, which its keeper may still run.
        this.#edges.onTrouble(error, `executing ${attempt.record.pid}`)
      }
      await this.#target.pause(delay)
      if (attempt.over || (await this.#isElsewhere(attempt))) return undefined
    }
  }

  /** Whether the process has ended, or another holder has its lease: then the attempt is forgotten here. */
  async #isElsewhere(attempt: Attempt): Promise<boolean> {
    const { pid } = attempt.record
    try {
      const row = await this.#edges.store.ask({ ask: 'process', pid })
      if (row !== null && !hasEnded(row.record) && row.holder === this.#options.holder()) return false
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      return false
    }
    this.#forget(attempt)
    return true
  }

  /** Trouble kept it from going on: the process is queued again. */
  async #release(attempt: Attempt): Promise<void> {
    if ((await this.#writes.release(attempt)) !== undefined) this.#options.running.forget(attempt)
  }

  /** Undefined: the attempt was over before its end could be written. */
  #finish(attempt: Attempt, answer: FinalAnswer | undefined): void {
    if (answer === undefined) return
    this.#forget(attempt)
    if (answer.type === 'written' && answer.row !== null) this.#kernel.carryOn(answer.row)
    if (isRefused(answer)) this.#edges.onTrouble(new Error(answer.message), `ending ${attempt.record.pid}`)
  }

  #forget(attempt: Attempt): void {
    this.#options.running.forget(attempt)
    this.#options.served.runnerOf(attempt.record)?.settled?.(attempt.record.pid)
  }
}
