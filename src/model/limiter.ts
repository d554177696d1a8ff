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
  readonly model: string
  readonly maxConcurrent: number
  readonly admit: () => void
  readonly leave: () => void
}

interface Lane {
  active: number
  readonly waiting: Waiter[]
  /** By model: providers limit each of them separately, and a fallback to another one must not wait. */
  readonly pauses: Map<string, { readonly until: number; readonly cancel: Cancel }>
}

/**
 * Admits the calls of all agents, one lane for each provider and key: at most `maxConcurrent` at once, the longest waiting first, and none
 * of a model for which the provider asked for a pause. So one agent's 429 holds the others back, instead of each finding out by itself.
 */
export class Limiter {
  readonly #clock: Clock
  readonly #lanes = new Map<string, Lane>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async admit(key: string, model: string, options: AdmissionOptions): Promise<Admission> {
    const { maxConcurrent, maxPauseMs, abortSignal, onWait } = options
    if (abortSignal?.aborted === true) return { type: 'aborted' }
    const lane = this.#laneOf(key)
    const paused = lane.pauses.get(model)
    const retryAfterMs = paused === undefined ? 0 : paused.until - this.#clock.now()
    if (retryAfterMs > maxPauseMs) return { type: 'paused', retryAfterMs }
    if (lane.waiting.length >= MAX_WAITING) return { type: 'full' }
    const ahead = lane.waiting.filter((one) => !lane.pauses.has(one.model)).length
    if (paused === undefined && lane.active < maxConcurrent && ahead === 0) return this.#admitted(key, lane)
    onWait?.(paused === undefined ? { type: 'concurrency', ahead } : { type: 'pause', until: paused.until })
    return new Promise((resolve) => {
      const leave = () => {
        lane.waiting.splice(lane.waiting.indexOf(waiter), 1)
        abortSignal?.removeEventListener('abort', leave)
        resolve({ type: 'aborted' })
        this.#forgetIdle(key, lane)
      }
      const admit = () => {
        abortSignal?.removeEventListener('abort', leave)
        resolve(this.#admitted(key, lane))
      }
      const waiter: Waiter = { model, maxConcurrent, admit, leave }
      lane.waiting.push(waiter)
      abortSignal?.addEventListener('abort', leave)
    })
  }

  /** No call of this model is sent before `ms` have passed. A shorter pause than the current one changes nothing. */
  pause(key: string, model: string, ms: number): void {
    const lane = this.#laneOf(key)
    const until = this.#clock.now() + ms
    const current = lane.pauses.get(model)
    if (current !== undefined && until <= current.until) return
    current?.cancel()
    // The timer ends the pause, and not the wall clock, which may be set back meanwhile.
    const cancel = this.#clock.after(ms, () => {
      lane.pauses.delete(model)
      this.#advance(key, lane)
    })
    lane.pauses.set(model, { until, cancel })
  }

  /** Waiting calls end as aborted, and no timer is left. */
  close(): void {
    for (const lane of [...this.#lanes.values()]) {
      for (const { cancel } of lane.pauses.values()) cancel()
      lane.pauses.clear()
      for (const { leave } of [...lane.waiting]) leave()
    }
    this.#lanes.clear()
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
    const isNext = ({ model, maxConcurrent }: Waiter) =>
      !lane.pauses.has(model) && lane.active < maxConcurrent
    for (let at = lane.waiting.findIndex(isNext); at !== -1; at = lane.waiting.findIndex(isNext)) {
      const [next] = lane.waiting.splice(at, 1)
      next?.admit()
    }
    this.#forgetIdle(key, lane)
  }

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key)
    if (known !== undefined) return known
    const lane: Lane = { active: 0, waiting: [], pauses: new Map() }
    this.#lanes.set(key, lane)
    return lane
  }

  #forgetIdle(key: string, lane: Lane): void {
    if (lane.active === 0 && lane.waiting.length === 0 && lane.pauses.size === 0) this.#lanes.delete(key)
  }
}
