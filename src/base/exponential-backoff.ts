/** The delays between retries: each is twice the one before, from `firstMs` up to `maxMs`. */
export class ExponentialBackoff {
  readonly #firstMs: number
  readonly #maxMs: number
  #delayMs: number

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
    this.#delayMs = firstMs
  }

  /** The delay before the next try. */
  nextMs(): number {
    const delayMs = this.#delayMs
    this.#delayMs = Math.min(delayMs * 2, this.#maxMs)
    return delayMs
  }

  /** After a success the delays begin at `firstMs` again. */
  reset(): void {
    this.#delayMs = this.#firstMs
  }
}
