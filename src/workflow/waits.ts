import type { Clock } from '../core/clock.ts'
import type { WaitRef } from '../core/process/intent.ts'

export interface WaitsOptions {
  readonly clock: Clock
  /** How long it waits in memory. */
  readonly parkAfterMs: number
  /** Whether these are all that the code waits for. */
  readonly mayPark: (waiting: number) => boolean
  /** Asks to leave memory; false if something has come meanwhile. */
  readonly park: (waits: readonly WaitRef[]) => Promise<boolean>
  readonly parked: () => void
  readonly failed: (error: unknown) => void
}

interface Waiting {
  readonly ref: WaitRef
  readonly until: number | null
  readonly cancel: () => void
}

/**
 * What one workflow waits for. When for a while it has done nothing else, it leaves memory.
 *
 * | state   | a wait begins | a wait is over, another call is made | after `parkAfterMs`                        |
 * | busy    | resting, if all calls are waits | –                  | –                                          |
 * | resting | resting anew  | busy, or resting anew                | parked; busy if something came meanwhile   |
 */
export class Waits {
  readonly #options: WaitsOptions
  readonly #waiting = new Map<number, Waiting>()
  #cancelRest: (() => void) | undefined
  #isOver = false

  constructor(options: WaitsOptions) {
    this.#options = options
  }

  /** Entered; `due` is called when the time is up. */
  add(place: number, ref: WaitRef, until: number | null, due: () => void): void {
    if (this.#isOver) return
    const { clock } = this.#options
    const cancel = until === null ? () => {} : clock.after(Math.max(0, until - clock.now()), due)
    this.#waiting.set(place, { ref, until, cancel })
    this.#rest()
  }

  /** It is over. */
  remove(place: number): void {
    const waiting = this.#waiting.get(place)
    if (waiting === undefined) return
    waiting.cancel()
    this.#waiting.delete(place)
    this.#rest()
  }

  close(): void {
    this.#isOver = true
    this.#cancelRest?.()
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }

  #rest(): void {
    this.#cancelRest?.()
    this.#cancelRest = undefined
    if (this.#waiting.size === 0 || this.#isOver) return
    this.#cancelRest = this.#options.clock.after(this.#options.parkAfterMs, () => {
      this.#park().catch(this.#options.failed)
    })
  }

  async #park(): Promise<void> {
    const { clock, mayPark, park, parked, parkAfterMs } = this.#options
    const waiting = [...this.#waiting.values()]
    const isSoon = waiting.some(({ until }) => until !== null && until - clock.now() <= parkAfterMs)
    if (!mayPark(waiting.length) || isSoon) return this.#rest()
    if (!(await park(waiting.map(({ ref }) => ref)))) return this.#rest()
    this.close()
    parked()
  }
}
