/** How often an address may be wrong about its token within a minute. */
const MOST_FAILURES = 10
const WITHIN_MS = 60_000
/** Addresses that are remembered at once; beyond that the oldest are forgotten. */
const MOST_ADDRESSES = 10_000

/** Wrong tokens, counted by address over the last minute. */
export class Failures {
  readonly #at = new Map<string, number[]>()

  /** Notes one more, and says whether that is too many. */
  areTooMany(address: string, now: number): boolean {
    const recent = (this.#at.get(address) ?? []).filter((at) => now - at < WITHIN_MS)
    const tooMany = recent.length >= MOST_FAILURES
    // The list does not grow with every further try, and the minute begins anew with each.
    if (tooMany) recent.shift()
    recent.push(now)
    this.#at.delete(address)
    this.#at.set(address, recent)
    const [oldest] = this.#at.keys()
    if (this.#at.size > MOST_ADDRESSES && oldest !== undefined) this.#at.delete(oldest)
    return tooMany
  }
}
