import { existsSync } from 'node:fs'
import type { IPty } from '@lydell/node-pty'
import type { Output } from './forked.ts'

/** Output of a terminal. */
export class PtyOutput implements Output {
  readonly #pty: IPty
  #isOpen = true
  #isLast = false
  #watch: NodeJS.Timeout | null = null

  constructor(pty: IPty) {
    this.#pty = pty
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * The library gives up a terminal 200 ms after its program has ended, read or not. So the end is watched for, and then the
   * rest is read whether the log takes it or not: it is no more than the kernel has room for.
   */
  hold(): void {
    if (this.#watch !== null || !this.#isOpen || this.#isLast) return
    this.#pty.pause()
    this.#watch = setInterval(() => {
      if (existsSync(`/proc/${this.#pty.pid}`)) return
      this.#isLast = true
      this.flow()
    }, 25)
  }

  flow(): void {
    if (this.#watch !== null) clearInterval(this.#watch)
    this.#watch = null
    if (this.#isOpen) this.#pty.resume()
  }

  /** Nothing to do: all data comes before the exit. */
  drain(): void {}

  leaderGone(): void {}

  close(): void {
    this.#isOpen = false
    if (this.#watch !== null) clearInterval(this.#watch)
    this.#watch = null
  }
}
