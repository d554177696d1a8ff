/** Wakes one waiter. A nudge that is given while nothing waits wakes the next waiter at once. */
export class Nudge {
  #isGiven = false
  #wake: (() => void) | undefined

  give(): void {
    this.#isGiven = true
    this.#wake?.()
  }

  /** Resolves at the next nudge, at the latest after `ms`. */
  async within(ms: number): Promise<void> {
    if (!this.#isGiven) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isGiven = false
    this.#wake = undefined
  }
}
