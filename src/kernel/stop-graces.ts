import type { Clock } from '../core/clock.ts'
import { stopOverdueAt } from '../core/process/stop-grace.ts'
import type { Attempt } from './attempt.ts'

/** Asked too early by the clock that counts, or another request has a grace of its own: it is asked again. */
const AGAIN_MS = 1_000

interface Stop {
  readonly at: number
  readonly graceMs?: number
}

export interface StopGracesOptions {
  readonly clock: Clock
  /** Writes that it was not seen to stop. */
  readonly giveUp: (attempt: Attempt) => Promise<'done' | 'not_yet'>
  readonly failed: (error: unknown, attempt: Attempt) => void
}

/** Gives up attempts that were asked to stop, and are not seen to: one timer for each, of its latest request. */
export class StopGraces {
  readonly #options: StopGracesOptions
  readonly #timers = new Map<Attempt, () => void>()

  constructor(options: StopGracesOptions) {
    this.#options = options
  }

  /** `executorMs` is how long its executor lets work go on by itself; a request that says how long overrides it. */
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
