/** Counts, per holder, the writes that may grant it a lease and have not returned yet. */
export class PendingGrants {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  begin(holder: string): void {
    this.#counts.set(holder, (this.#counts.get(holder) ?? 0) + 1)
  }

  end(holder: string): void {
    const left = (this.#counts.get(holder) ?? 0) - 1
    if (left > 0) {
      this.#counts.set(holder, left)
      return
    }
    this.#counts.delete(holder)
    for (const resolve of this.#waiting.get(holder) ?? []) resolve()
    this.#waiting.delete(holder)
  }

  /** Resolves when no write that may grant this holder a lease is under way. */
  ended(holder: string): Promise<void> {
    if (!this.#counts.has(holder)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.set(holder, [...(this.#waiting.get(holder) ?? []), resolve])
    })
  }
}
