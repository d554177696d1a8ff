import { BoundedMap } from '../base/bounded-map.ts'
import { networkOf } from './client-network.ts'

/** How many wrong tokens a network may send within a minute. */
const MAX_FAILURES = 10
const WITHIN_MS = 60_000
/** Networks that are remembered; beyond that the oldest are evicted. */
const MAX_NETWORKS = 10_000

/** Wrong tokens, counted by the client's network over the last minute. */
export class Failures {
  readonly #at = new BoundedMap<string, number[]>(MAX_NETWORKS)

  /** Counts one more, and returns whether that is too many. */
  areTooMany(address: string, now: number): boolean {
    const network = networkOf(address)
    const recent = (this.#at.get(network) ?? []).filter((at) => now - at < WITHIN_MS)
    const tooMany = recent.length >= MAX_FAILURES
    // The list does not grow with further tries, and each of them restarts the minute.
    if (tooMany) recent.shift()
    recent.push(now)
    this.#at.set(network, recent)
    return tooMany
  }
}
