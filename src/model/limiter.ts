import type { Cancel, Clock } from '../core/clock.ts'
import type { CallWait } from './model.ts'

/** Calls that may wait for one provider and key. */
const MAX_WAITING = 10_000

export type Admission =
  | { readonly type: 'admitted'; readonly release: () => void }
  /** The provider's pause is longer than the caller would wait. */
  | { readonly type: 'paused'; readonly retryAfterMs: number }
  | { readonly type: 'full' }
  | { readonly type: 'aborted' }

export interface AdmissionOptions {
  readonly maxConcurrent: number
  /** A longer pause is not waited for. */
  readonly maxPauseMs: number
  readonly abortSignal?: AbortSignal
  readonly onWait?: (wait: CallWait) => void
}

interface Waiter {
  readonly maxConcurrent: number
  readonly admit: () => void
}

interface Lane {
  active: number
  pausedUntil: number
  cancelTimer: Cancel | undefined
  readonly waiting: Waiter[]
}

/**
 * Admits the calls of all agents, one lane for each provider and key: at most `maxConcurrent` at once, the longest waiting first, and none
 * while the provider asked for a pause. So one agent's 429 holds all calls back, instead of each agent finding out by itself.
 */
export class Limiter {
  readonly #clock: Clock
  readonly #lanes = new Map<string, Lane>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async admit(key: string, options: AdmissionOptions): Promise<Admission> {
    const { maxConcurrent, maxPauseMs, abortSignal, onWait } = options
    if (abortSignal?.aborted === true) return { type: 'aborted' }
    const lane = this.#laneOf(key)
    const now = this.#clock.now()
    if (lane.pausedUntil - now > maxPauseMs) return { type: 'paused', retryAfterMs: lane.pausedUntil - now }
    if (lane.waiting.length >= MAX_WAITING) return { type: 'full' }
    const isFree = lane.active < maxConcurrent && lane.pausedUntil <= now && lane.waiting.length === 0
    if (isFree) return this.#admitted(key, lane)
    onWait?.(
      lane.pausedUntil > now
        ? { type: 'pause', until: lane.pausedUntil }
        : { type: 'concurrency', ahead: lane.waiting.length },
    )
    return this.#wait(key, lane, maxConcurrent, abortSignal)
  }

  /** No call of this lane is sent before `ms` have passed. A shorter pause than the current one changes nothing. */
  pause(key: string, ms: number): void {
    const lane = this.#laneOf(key)
    const until = this.#clock.now() + ms
    if (until <= lane.pausedUntil) return
    lane.pausedUntil = until
    lane.cancelTimer?.()
    lane.cancelTimer = this.#clock.after(ms, () => {
      lane.cancelTimer = undefined
      // The wall clock may have been set back meanwhile: the pause is over all the same.
      lane.pausedUntil = 0
      this.#advance(key, lane)
    })
  }

  #wait(
    key: string,
    lane: Lane,
    maxConcurrent: number,
    abortSignal: AbortSignal | undefined,
  ): Promise<Admission> {
    return new Promise((resolve) => {
      const leave = () => {
        lane.waiting.splice(lane.waiting.indexOf(waiter), 1)
        resolve({ type: 'aborted' })
        this.#forgetIdle(key, lane)
      }
      const waiter: Waiter = {
        maxConcurrent,
        admit: () => {
          abortSignal?.removeEventListener('abort', leave)
          resolve(this.#admitted(key, lane))
        },
      }
      lane.waiting.push(waiter)
      abortSignal?.addEventListener('abort', leave, { once: true })
    })
  }

  #admitted(key: string, lane: Lane): Admission {
    lane.active += 1
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      lane.active -= 1
      this.#advance(key, lane)
    }
    return { type: 'admitted', release }
  }

  #advance(key: string, lane: Lane): void {
    if (lane.pausedUntil <= this.#clock.now()) {
      for (
        let next = lane.waiting[0];
        next !== undefined && lane.active < next.maxConcurrent;
        next = lane.waiting[0]
      ) {
        lane.waiting.shift()
        next.admit()
      }
    }
    this.#forgetIdle(key, lane)
  }

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key)
    if (known !== undefined) return known
    const lane: Lane = { active: 0, pausedUntil: 0, cancelTimer: undefined, waiting: [] }
    this.#lanes.set(key, lane)
    return lane
  }

  #forgetIdle(key: string, lane: Lane): void {
    if (lane.active === 0 && lane.waiting.length === 0 && lane.cancelTimer === undefined)
      this.#lanes.delete(key)
  }
}
