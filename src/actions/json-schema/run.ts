import { type Json, sizeOf } from '../../core/json/json.ts'

/** The budget of any payload, however small. */
const BASE_STEPS = 2_000
const STEPS_PER_BYTE = 4
/** A step takes some 0.1 µs. */
const MAX_STEPS = 1_000_000
/** Nested references: far above any real payload, far below the limit of the call stack. */
const MAX_DEPTH = 600

/** One check of one payload: counts its steps, and stops when there are too many. */
export class Run {
  readonly #payload: Json
  #left = BASE_STEPS
  #isExtended = false
  #depth = 0

  private constructor(payload: Json) {
    this.#payload = payload
  }

  static within(payload: Json, check: (run: Run) => string | undefined): string | undefined {
    try {
      return check(new Run(payload))
    } catch (error) {
      if (error instanceof TooMuchWork) return error.message
      throw error
    }
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left >= 0) return
    if (!this.#isExtended) {
      this.#isExtended = true
      const bytes = sizeOf(this.#payload)
      this.#left += Math.min(MAX_STEPS, bytes * STEPS_PER_BYTE)
    }
    if (this.#left < 0)
      throw new TooMuchWork('checking a payload of this size against it takes too many steps')
  }

  /** Applies one schema to one value. */
  enter<Answer>(apply: () => Answer): Answer {
    this.spend(1)
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork('the schema refers to itself too deeply for it')
    const answer = apply()
    this.#depth--
    return answer
  }
}

class TooMuchWork extends Error {}
