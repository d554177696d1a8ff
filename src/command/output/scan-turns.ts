/**
 * Lets one piece of output be searched per turn of the event loop, over all searches. A pattern may take tens of milliseconds for a
 * piece; hundreds of waits that a grown log wakes at once would otherwise block the loop.
 */
export class ScanTurns {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false

  /** Resolves when it is the caller's turn, in the order of arrival. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#waiting.shift()?.()
      this.#schedule()
    })
  }
}

/** One for this OS process, whose event loop all searches share. */
export const scanTurns = new ScanTurns()
