import type { Pid } from '../core/process/pid.ts'
import { type Attempt, Stopped } from './attempt.ts'

/** The attempts that one holder executes now: at most one per process. */
export class RunningAttempts {
  readonly #attempts = new Map<Pid, Attempt>()
  readonly #onForgotten: (attempt: Attempt) => void

  constructor(onForgotten: (attempt: Attempt) => void) {
    this.#onForgotten = onForgotten
  }

  get size(): number {
    return this.#attempts.size
  }

  get pids(): readonly Pid[] {
    return [...this.#attempts.keys()]
  }

  /** A copy: attempts may be forgotten while the caller walks it. */
  get all(): readonly Attempt[] {
    return [...this.#attempts.values()]
  }

  get(pid: Pid): Attempt | undefined {
    return this.#attempts.get(pid)
  }

  has(pid: Pid): boolean {
    return this.#attempts.has(pid)
  }

  add(attempt: Attempt): void {
    this.#attempts.set(attempt.record.pid, attempt)
  }

  /** The attempt is finished, or another holder finishes it. */
  forget(attempt: Attempt): void {
    attempt.over = true
    attempt.settled()
    this.remove(attempt)
    this.#onForgotten(attempt)
  }

  /** Another holder has the lease: aborts the code, and writes nothing for it. */
  lose(attempt: Attempt, message: string): void {
    this.forget(attempt)
    attempt.stop(new Stopped('lease_lost', message))
  }

  /** A later attempt at the same process stays. */
  remove(attempt: Attempt): void {
    if (this.get(attempt.record.pid) === attempt) this.#attempts.delete(attempt.record.pid)
  }
}
