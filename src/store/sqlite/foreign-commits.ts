/** Detects commits of other connections to the same file, by its data version. */
export class ForeignCommits {
  readonly #version: () => number
  readonly #onFound: () => void
  #seen: number
  /** Found, and not yet reported: a transaction that finds commits of others clears the caches, but notifies no listener. */
  #unreported = false
  #looks = 0

  /** `onFound` is called as soon as a look finds commits of others. */
  constructor(version: () => number, onFound: () => void) {
    this.#version = version
    this.#onFound = onFound
    this.#seen = version()
  }

  /** How often this connection has checked. */
  get looks(): number {
    return this.#looks
  }

  look(): void {
    this.#looks += 1
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    this.#unreported = true
    this.#onFound()
  }

  /** Listeners must read the file again, whether or not a look finds anything. */
  assume(): void {
    this.#unreported = true
  }

  /** The answer of `read` if there are commits to report, which then count as reported; else null. */
  report<Answer>(read: () => Answer): Answer | null {
    if (!this.#unreported) return null
    const answer = read()
    this.#unreported = false
    return answer
  }
}
