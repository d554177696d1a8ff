/**
 * Looks at what one program uses: nothing counts all of it that could be asked when it has ended. It looks at its start, from
 * then on ever more seldom, and again a while after it was seen to do something. So one that does nothing costs nothing.
 */
export class UsageSamples {
  readonly #sample: () => void
  #pauseMs = FIRST_MS
  #dueAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor(sample: () => void) {
    this.#sample = sample
    this.now()
    this.#next()
  }

  /** This may be the last moment in which there is something to be seen. */
  now(): void {
    try {
      this.#sample()
    } catch {
      // It may not be looked at, or not now. What is not known is left out.
    }
  }

  /** It has done something. */
  soon(): void {
    if (this.#timer === null || this.#dueAt - performance.now() <= BUSY_MS) return
    this.#pauseMs = BUSY_MS
    this.#next()
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #next(): void {
    this.stop()
    this.#dueAt = performance.now() + this.#pauseMs
    this.#timer = setTimeout(() => {
      this.now()
      this.#next()
    }, this.#pauseMs)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_MS)
  }
}

const FIRST_MS = 50
const BUSY_MS = 1000
const LONGEST_MS = 120_000
