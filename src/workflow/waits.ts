import type { Clock } from '../core/clock.ts'
import type { WaitRef } from '../core/process/intent.ts'

export interface WaitsOptions {
  readonly clock: Clock
  /** How long an idle workflow stays in memory. */
  readonly parkAfterMs: number
  /** Whether the code waits for nothing except this many waits. */
  readonly mayPark: (waiting: number) => boolean
  /** Tries to park the process. Resolves to false if one of the waits has ended meanwhile. */
  readonly park: (waits: readonly WaitRef[]) => Promise<boolean>
  readonly onParked: () => void
  /** Other processes may have the slot of this workflow until the returned function is called. */
  readonly lendSlot: () => () => void
  readonly fail: (error: unknown) => void
}

interface OpenWait {
  readonly ref: WaitRef
  readonly until: number | null
  readonly cancel: () => void
}

/**
 * The open waits of one workflow. While it does nothing but wait, it lends its slot to other processes; after `parkAfterMs` of
 * that it is parked.
 *
 * | timer   | a wait begins | a wait ends                  | `parkAfterMs` have passed                |
 * | off     | starts        | –                            | –                                        |
 * | running | restarts      | restarts; off after the last | parked, or restarts if it cannot park    |
 *
 * It cannot park while other calls are pending, when a deadline is near, or when a wait has ended meanwhile.
 */
export class Waits {
  readonly #options: WaitsOptions
  readonly #waiting = new Map<number, OpenWait>()
  #cancelParkTimer: (() => void) | undefined
  #takeSlotBack: (() => void) | undefined
  #isClosed = false

  constructor(options: WaitsOptions) {
    this.#options = options
  }

  /** Adds an entered wait. Calls `due` at `until`. */
  add(stepIndex: number, ref: WaitRef, until: number | null, due: () => void): void {
    if (this.#isClosed) return
    const { clock } = this.#options
    const cancel = until === null ? () => {} : clock.after(Math.max(0, until - clock.now()), due)
    this.#waiting.set(stepIndex, { ref, until, cancel })
    this.#startParkTimer()
    this.#lendSlotIfIdle()
  }

  remove(stepIndex: number): void {
    const waiting = this.#waiting.get(stepIndex)
    if (waiting === undefined) return
    waiting.cancel()
    this.#waiting.delete(stepIndex)
    this.#startParkTimer()
  }

  /** The code goes on: it has made a call, or got a result. */
  goOn(): void {
    this.#useSlot()
    // The code runs first, and may make further calls. If it makes none, it waits for the rest.
    if (this.#waiting.size > 0) setImmediate(() => this.#lendSlotIfIdle())
  }

  close(): void {
    this.#isClosed = true
    this.#useSlot()
    this.#cancelParkTimer?.()
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }

  #lendSlotIfIdle(): void {
    const { size } = this.#waiting
    if (this.#takeSlotBack !== undefined || this.#isClosed || size === 0) return
    if (this.#options.mayPark(size)) this.#takeSlotBack = this.#options.lendSlot()
  }

  #useSlot(): void {
    this.#takeSlotBack?.()
    this.#takeSlotBack = undefined
  }

  #startParkTimer(): void {
    this.#cancelParkTimer?.()
    this.#cancelParkTimer = undefined
    if (this.#waiting.size === 0 || this.#isClosed) return
    this.#cancelParkTimer = this.#options.clock.after(this.#options.parkAfterMs, () => {
      this.#park().catch(this.#options.fail)
    })
  }

  async #park(): Promise<void> {
    const { clock, mayPark, park, onParked, parkAfterMs } = this.#options
    const waiting = [...this.#waiting.values()]
    const isDueSoon = waiting.some(({ until }) => until !== null && until - clock.now() <= parkAfterMs)
    if (!mayPark(waiting.length) || isDueSoon) return this.#startParkTimer()
    if (!(await park(waiting.map(({ ref }) => ref)))) return this.#startParkTimer()
    this.close()
    onParked()
  }
}
