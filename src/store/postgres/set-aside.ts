import type { Clock } from '../../core/clock.ts'

/** Each attempt may delay other plans for as long as the write connection waits for a lock. */
const RETRY_MS = 1_000

/**
 * Plans that need a row which another transaction has locked. All of them are retried together, in their order; until then
 * every later plan that needs one of these rows joins them, so that no plan overtakes another.
 */
export class SetAside<Waiting> {
  readonly #clock: Clock
  readonly #comeBack: (waiting: readonly Waiting[]) => void
  readonly #locked = new Set<string>()
  #waiting: Waiting[] = []

  constructor(clock: Clock, comeBack: (waiting: readonly Waiting[]) => void) {
    this.#clock = clock
    this.#comeBack = comeBack
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  add(waiting: Waiting): void {
    if (this.#waiting.push(waiting) > 1) return
    this.#clock.after(RETRY_MS, () => {
      this.#locked.clear()
      this.#comeBack(this.#waiting.splice(0))
    })
  }

  /** Records that these rows are locked. */
  note(keys: Iterable<string>): void {
    for (const key of keys) this.#locked.add(key)
  }

  concerns(keys: Iterable<string>): boolean {
    if (this.#locked.size === 0) return false
    for (const key of keys) if (this.#locked.has(key)) return true
    return false
  }
}
