import { BoundedMap } from '../base/bounded-map.ts'
import { networkOf } from './client-network.ts'

/** How often a network may be wrong about its token within a minute. */
const MAX_FAILURES = 10
const WITHIN_MS = 60_000
/** Networks that are remembered at once; beyond that the oldest are forgotten. */
const MAX_NETWORKS = 10_000

/** Wrong tokens, counted by the client's network over the last minute. */
export class Failures {
  readonly #at = new BoundedMap<string, number[]>(MAX_NETWORKS)

  /** Notes one more, and says whether that is too many. */
  areTooMany(address: string, now: number): boolean {
    const network = networkOf(address)
    const recent = (this.#at.get(network) ?? []).filter((at) => now - at < WITHIN_MS)
    const tooMany = recent.length >= MAX_FAILURES
    // The list does not grow with every further try, and the minute begins anew with each.
    if (tooMany) recent.shift()
    recent.push(now)
    this.#at.set(network, recent)
    return tooMany
  }
}
