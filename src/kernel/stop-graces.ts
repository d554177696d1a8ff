import type { Clock } from '../core/clock.ts'
import { stopOverdueAt } from '../core/process/give-up-stop.ts'
import type { Attempt } from './attempt.ts'

/** Delay before the next try, after one that came too early by the store's clock or for a newer request. */
const AGAIN_MS = 1_000

interface Stop {
  readonly at: number
  readonly graceMs?: number
}

export interface StopGracesOptions {
  readonly clock: Clock
  /** Writes that the attempt was not seen to stop. */
  readonly giveUp: (attempt: Attempt) => Promise<'done' | 'not_yet'>
  readonly failed: (error: unknown, attempt: Attempt) => void
}

/** Gives up attempts that ignore a stop: one timer for each, for its latest request. */
export class StopGraces {
  readonly #options: StopGracesOptions
  readonly #timers = new Map<Attempt, () => void>()

  constructor(options: StopGracesOptions) {
    this.#options = options
  }

  /** `executorMs`: how long the executor itself lets work go on. A grace in the request overrides it. */
  watch(attempt: Attempt, stop: Stop, executorMs: number): void {
    const overdueAt = stopOverdueAt(stop)
    this.forget(attempt)
    if (overdueAt === null || attempt.over) return
    this.#wait(attempt, stop.graceMs === undefined ? overdueAt + executorMs : overdueAt)
  }

  forget(attempt: Attempt): void {
    this.#timers.get(attempt)?.()
    this.#timers.delete(attempt)
  }

  #wait(attempt: Attempt, dueAt: number): void {
    const { clock, failed } = this.#options
    const cancel = clock.after(Math.max(0, dueAt - clock.now()), () => {
      this.#timers.delete(attempt)
      this.#giveUp(attempt).catch((error: unknown) => failed(error, attempt))
    })
    this.#timers.set(attempt, cancel)
  }

  async #giveUp(attempt: Attempt): Promise<void> {
    const { clock, giveUp } = this.#options
    if (attempt.over || (await giveUp(attempt)) === 'done') return
    if (!attempt.over && !this.#timers.has(attempt)) this.#wait(attempt, clock.now() + AGAIN_MS)
  }
}
