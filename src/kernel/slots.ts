/** The slots of one executor: a process that runs has one, and one that is about to be registered has reserved one. */
export class Slots {
  readonly #most: () => number
  readonly #running: () => number
  #hadTooFew = false
  reserved = 0

  /** `most` may change at any time. */
  constructor(most: () => number, running: () => number) {
    this.#most = most
    this.#running = running
  }

  /** How many more processes may be begun now. */
  free(): number {
    const free = this.#most() - this.#running() - this.reserved
    if (free <= 0) this.#hadTooFew = true
    return free
  }

  /** Whether none was free when one was looked for: then there may be work that was passed over. Asked again, it is forgotten. */
  hadTooFew(): boolean {
    const hadTooFew = this.#hadTooFew
    this.#hadTooFew = false
    return hadTooFew
  }
}
