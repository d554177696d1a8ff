/**
 * Samples the usage of programs, because no counter has all of it after their end. Each is sampled at its start, soon after, and
 * a while after it was active. Besides, all of them take turns, a bounded number per round, so that any number of idle programs
 * costs next to nothing.
 */
export class UsageSamples {
  /** In the order of their turns. */
  readonly #programs = new Set<SampledProgram>()
  #rounds: NodeJS.Timeout | null = null

  /** Samples the program until it is stopped. */
  of(look: () => void): SampledProgram {
    const program = new SampledProgram(look, () => this.#forget(program))
    this.#programs.add(program)
    this.#rounds ??= setInterval(() => this.#round(), ROUND_MS)
    return program
  }

  #round(): void {
    for (const program of [...this.#programs].slice(0, MAX_PER_ROUND)) {
      this.#programs.delete(program)
      this.#programs.add(program)
      program.now()
    }
  }

  #forget(program: SampledProgram): void {
    this.#programs.delete(program)
    if (this.#programs.size > 0 || this.#rounds === null) return
    clearInterval(this.#rounds)
    this.#rounds = null
  }
}

export class SampledProgram {
  readonly #look: () => void
  readonly #stopped: () => void
  #timer: NodeJS.Timeout | null

  constructor(look: () => void, stopped: () => void) {
    this.#look = look
    this.#stopped = stopped
    this.now()
    this.#timer = setTimeout(() => this.#due(), FIRST_MS)
  }

  /** Samples now: this may be the last chance. */
  now(): void {
    try {
      this.#look()
    } catch {
      // The program cannot be inspected, or not now: this sample is left out.
    }
  }

  /** The program was active. */
  soon(): void {
    this.#timer ??= setTimeout(() => this.#due(), BUSY_MS)
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#stopped()
  }

  #due(): void {
    this.#timer = null
    this.now()
  }
}

const FIRST_MS = 50
const BUSY_MS = 1000
const ROUND_MS = 10_000
const MAX_PER_ROUND = 32
