import type { Clock } from '../core/clock.ts'

const RETRY_MS = 200

/** How much a claim took: nothing, something, or as much as was asked for, so that there may be more. */
export type ClaimYield = 'none' | 'some' | 'more'

export interface ClaimSchedulerOptions {
  readonly hasRoom: () => boolean
  /** Claims as many processes as there is room for. A claim that gets none also asks the store when the next one is due. */
  readonly claim: () => Promise<ClaimYield>
  /** Called after every claim, successful or not. */
  readonly onClaimed: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Decides when to look for work. Only one claim is under way at a time.
 *
 * | state       | look()                                                    |
 * | idle        | claims                                                    |
 * | claiming    | claims again right after                                  |
 * | backing off | nothing: a claim failed, and its retry is already scheduled |
 * | stopped     | nothing                                                   |
 */
export class ClaimScheduler {
  readonly #clock: Clock
  readonly #options: ClaimSchedulerOptions
  #isClaiming = false
  #isLookWanted = false
  #isBackingOff = false
  #isStopped = false
  /** Claims repeat until one gets no process, and so has asked the store when the next one is due. */
  #isNextDueUnknown = true
  #cancelDue: (() => void) | undefined
  #dueAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock, options: ClaimSchedulerOptions) {
    this.#clock = clock
    this.#options = options
  }

  get isClaiming(): boolean {
    return this.#isClaiming
  }

  look(): void {
    if (this.#isStopped || this.#isBackingOff) return
    if (this.#isClaiming) {
      this.#isLookWanted = true
      return
    }
    if (!this.#options.hasRoom()) return
    this.#isClaiming = true
    this.#options.claim().then(
      (claimed) => {
        this.#isClaiming = false
        this.#options.onClaimed()
        if (claimed === 'none') this.#isNextDueUnknown = false
        if (claimed !== 'more' && !this.#isNextDueUnknown && !this.#isLookWanted) return
        this.#isLookWanted = false
        this.look()
      },
      (error: unknown) => {
        this.#isClaiming = false
        this.#options.onClaimed()
        this.#options.onError(error)
        if (this.#isStopped) return
        this.#isBackingOff = true
        this.#clock.after(RETRY_MS, () => {
          this.#isBackingOff = false
          this.look()
        })
      },
    )
  }

  /** Looks for work, and asks the store again when the next process is due. */
  lookAndReschedule(): void {
    this.#isNextDueUnknown = true
    this.look()
  }

  /** Schedules a look: the end of a backoff makes no event that would cause one. */
  lookAt(due: number): void {
    if (due >= this.#dueAt || this.#isStopped) return
    this.#cancelDue?.()
    this.#dueAt = due
    this.#cancelDue = this.#clock.after(Math.max(1, due - this.#clock.now()), () => {
      this.#dueAt = Number.POSITIVE_INFINITY
      this.lookAndReschedule()
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelDue?.()
  }
}
