const MAX_SHOWN_ENDS = 1_000

/** Processes whose end of output was shown. After an eviction the end is shown once more instead of the next page. */
export class ShownEnds {
  readonly #pids = new Set<string>()

  has(pid: string): boolean {
    return this.#pids.has(pid)
  }

  add(pid: string): void {
    this.#pids.add(pid)
    const [oldest] = this.#pids
    if (this.#pids.size > MAX_SHOWN_ENDS && oldest !== undefined) this.#pids.delete(oldest)
  }
}
