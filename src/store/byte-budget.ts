/** Runs tasks at once while their sizes add up to at most `limit`; the others wait in their order. A larger one runs alone. */
export class ByteBudget {
  readonly #limit: number
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = []
  #used = 0
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  async run<Answer>(bytes: number, task: () => Promise<Answer>): Promise<Answer> {
    await new Promise<void>((start) => {
      this.#waiting.push({ bytes, start })
      this.#startNext()
    })
    try {
      return await task()
    } finally {
      this.#used -= bytes
      this.#running -= 1
      this.#startNext()
    }
  }

  #startNext(): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      if (this.#running > 0 && this.#used + next.bytes > this.#limit) return
      this.#waiting.shift()
      this.#used += next.bytes
      this.#running += 1
      next.start()
    }
  }
}
