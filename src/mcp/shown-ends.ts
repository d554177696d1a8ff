const MAX_SHOWN_ENDS = 1_000

/** The processes whose end of output was shown. A forgotten one is shown its end again, in place of the next page. */
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
