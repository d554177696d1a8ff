import { BoundedMap } from '../../base/bounded-map.ts'

/** Hooks that are remembered; the oldest are forgotten, and begin with a full bucket again. */
const MAX_HOOKS = 10_000
const MINUTE_MS = 60_000

interface Bucket {
  readonly left: number
  readonly at: number
}

/** How many requests each hook may accept: a minute's worth at once, and then as time passes. */
export class HookRates {
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_HOOKS)

  /** Takes one, or says after how many seconds there is one. */
  take(id: string, maxPerMinute: number, now: number): { readonly retryAfterSeconds: number } | undefined {
    const { left, at } = this.#buckets.get(id) ?? { left: maxPerMinute, at: now }
    const perMs = maxPerMinute / MINUTE_MS
    // A clock that was set back refills nothing.
    const refilled = Math.min(maxPerMinute, left + Math.max(0, now - at) * perMs)
    const isEmpty = refilled < 1
    this.#buckets.set(id, { left: isEmpty ? refilled : refilled - 1, at: now })
    return isEmpty ? { retryAfterSeconds: Math.ceil((1 - refilled) / perMs / 1_000) } : undefined
  }
}
