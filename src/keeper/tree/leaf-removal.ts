import { ExponentialBackoff } from '../../base/exponential-backoff.ts'

/** A leaf is busy while descendants of its program live: its removal is retried with backoff. */
const FIRST_RETRY_MS = 20
const MAX_RETRY_MS = 60_000

/** More are not remembered; the next keeper removes those that are empty then. */
const MAX_BUSY = 4096

/** Removes leaves, later if they are busy. `attempt` returns true when nothing is left. */
export class LeafRemoval {
  readonly #attempt: (path: string) => boolean
  readonly #busy = new Map<string, () => void>()
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, MAX_RETRY_MS)
  #timer: NodeJS.Timeout | undefined

  constructor(attempt: (path: string) => boolean) {
    this.#attempt = attempt
  }

  /** `gone` is called after the removal, if the leaf is remembered; it replaces the callback of an earlier call. */
  remove(path: string, gone: () => void): void {
    if (this.#attempt(path)) {
      this.#busy.delete(path)
      gone()
      return
    }
    if (this.#busy.size >= MAX_BUSY) return
    this.#busy.set(path, gone)
    this.#backoff.reset()
    this.#schedule()
  }

  /** Tries all once more, now, and then stops. */
  close(): void {
    this.#sweep()
    clearTimeout(this.#timer)
    this.#busy.clear()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#sweep()
      if (this.#busy.size === 0) return
      this.#schedule()
    }, this.#backoff.nextMs())
    this.#timer.unref()
  }

  #sweep(): void {
    for (const [path, gone] of this.#busy) {
      if (!this.#attempt(path)) continue
      this.#busy.delete(path)
      gone()
    }
  }
}
