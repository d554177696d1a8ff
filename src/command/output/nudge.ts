/** Wakes one waiter. Given before anybody waits, it wakes the next. */
export class Nudge {
  #given = false
  #wake: (() => void) | undefined

  give(): void {
    this.#given = true
    this.#wake?.()
  }

  async within(ms: number): Promise<void> {
    if (!this.#given) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#given = false
    this.#wake = undefined
  }
}
