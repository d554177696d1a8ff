/** Wakes one waiter. A wake-up while nothing waits counts for the next wait. */
export class WakeUp {
  #isGiven = false
  #wake: (() => void) | undefined

  give(): void {
    this.#isGiven = true
    this.#wake?.()
  }

  async wait(): Promise<void> {
    if (!this.#isGiven)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    this.#isGiven = false
    this.#wake = undefined
  }
}
