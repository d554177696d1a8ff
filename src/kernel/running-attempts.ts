import type { Pid } from '../core/process/pid.ts'
import { type Attempt, Stopped } from './attempt.ts'

/** The attempts that one holder executes now: at most one per process. */
export class RunningAttempts {
  readonly #attempts = new Map<Pid, Attempt>()
  /** Attempts that wait, and have lent their slots. */
  readonly #lending = new Set<Attempt>()
  readonly #onForgotten: (attempt: Attempt) => void
  readonly #onSlotLent: () => void

  constructor(onForgotten: (attempt: Attempt) => void, onSlotLent: () => void = () => {}) {
    this.#onForgotten = onForgotten
    this.#onSlotLent = onSlotLent
  }

  get size(): number {
    return this.#attempts.size
  }

  /** How many attempts use a slot: a waiting one uses none. */
  get usedSlots(): number {
    return this.#attempts.size - this.#lending.size
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
    const former = this.get(attempt.record.pid)
    if (former !== undefined) this.remove(former)
    this.#attempts.set(attempt.record.pid, attempt)
    attempt.onSlot = (isLent) => this.#slotChanged(attempt, isLent)
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
    this.#lending.delete(attempt)
    if (this.get(attempt.record.pid) === attempt) this.#attempts.delete(attempt.record.pid)
  }

  #slotChanged(attempt: Attempt, isLent: boolean): void {
    if (this.get(attempt.record.pid) !== attempt) return
    if (!isLent) this.#lending.delete(attempt)
    else {
      this.#lending.add(attempt)
      this.#onSlotLent()
    }
  }
}
