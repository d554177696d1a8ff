import type { Clock } from '../core/clock.ts'

const RETRY_MS = 200

/** Whether a look took something, and whether there may be more. */
export type Looked = 'none' | 'some' | 'more'

export interface LookoutOptions {
  /** Whether there is room for more. */
  readonly isIdle: () => boolean
  /** Takes what it can. Only who takes nothing asks what is due later. */
  readonly claim: () => Promise<Looked>
  /** After every look, whatever came of it. */
  readonly looked: () => void
  readonly failed: (error: unknown) => void
}

/**
 * When to look for work: one look at a time.
 *
 * | asked while    | what is done                                            |
 * | idle           | looks                                                   |
 * | looking        | looks again right after                                 |
 * | backing off    | nothing: a look failed, and the next one comes by itself |
 * | stopped        | nothing                                                 |
 */
export class Lookout {
  readonly #clock: Clock
  readonly #options: LookoutOptions
  #looking = false
  #lookAgain = false
  #backingOff = false
  #stopped = false
  /** What is due next is not known: looks go on until one has asked. */
  #dueUnknown = true
  #cancelDue: (() => void) | undefined
  #dueAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock, options: LookoutOptions) {
    this.#clock = clock
    this.#options = options
  }

  get isLooking(): boolean {
    return this.#looking
  }

  look(): void {
    if (this.#stopped || this.#backingOff) return
    if (this.#looking) {
      this.#lookAgain = true
      return
    }
    if (!this.#options.isIdle()) return
    this.#looking = true
    this.#options.claim().then(
      (looked) => {
        this.#looking = false
        this.#options.looked()
        if (looked === 'none') this.#dueUnknown = false
        if (looked !== 'more' && !this.#dueUnknown && !this.#lookAgain) return
        this.#lookAgain = false
        this.look()
      },
      (error: unknown) => {
        this.#looking = false
        this.#options.looked()
        this.#options.failed(error)
        if (this.#stopped) return
        this.#backingOff = true
        this.#clock.after(RETRY_MS, () => {
          this.#backingOff = false
          this.look()
        })
      },
    )
  }

  /** Looks, and finds out what is due next. */
  lookAnew(): void {
    this.#dueUnknown = true
    this.look()
  }

  /** A backoff that ends later makes no event: a timer looks then. */
  lookAt(due: number): void {
    if (due >= this.#dueAt || this.#stopped) return
    this.#cancelDue?.()
    this.#dueAt = due
    this.#cancelDue = this.#clock.after(Math.max(1, due - this.#clock.now()), () => {
      this.#dueAt = Number.POSITIVE_INFINITY
      this.lookAnew()
    })
  }

  stop(): void {
    this.#stopped = true
    this.#cancelDue?.()
  }
}
