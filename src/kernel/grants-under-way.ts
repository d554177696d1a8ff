/** The writes that may grant a lease to a holder and have not come back yet. */
export class GrantsUnderWay {
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

  /** When none is under way for this holder. */
  ended(holder: string): Promise<void> {
    if (!this.#counts.has(holder)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.set(holder, [...(this.#waiting.get(holder) ?? []), resolve])
    })
  }
}
