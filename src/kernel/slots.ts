/** The slots of one holder: a running process has one, and a process that is about to be registered reserves one. */
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

  /** How many more processes may begin now. */
  free(): number {
    const free = this.#most() - this.#running() - this.reserved
    if (free <= 0) this.#hadTooFew = true
    return free
  }

  /** Whether no slot was free since the last call: work may have been passed over. Resets itself. */
  hadTooFew(): boolean {
    const hadTooFew = this.#hadTooFew
    this.#hadTooFew = false
    return hadTooFew
  }
}
