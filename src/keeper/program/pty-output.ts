import { isPidInUse } from '../../os/identity.ts'
import type { BytePty } from './byte-pty.ts'
import type { Output, OutputEvents } from './output.ts'

/** Output of a terminal. */
export class PtyOutput implements Output {
  readonly #pty: BytePty
  #isOpen = true
  #isLast = false
  #watch: NodeJS.Timeout | null = null

  constructor(pty: BytePty, events: Pick<OutputEvents, 'bytes'>) {
    this.#pty = pty
    pty.onData((bytes) => {
      if (!events.bytes(bytes, null)) this.#hold()
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  flow(): void {
    this.#stopWatching()
    if (this.#isOpen) this.#pty.resume()
  }

  /** Nothing to do: a terminal is read as output comes. */
  wake(): void {}

  /** Nothing to do: all data is delivered before the exit. */
  drain(): void {}

  /** The end of the session leader hangs up the terminal for all processes that have it open. */
  leaderGone(): void {
    this.close()
  }

  close(): void {
    this.#isOpen = false
    this.#stopWatching()
  }

  /**
   * The library closes a terminal 200 ms after its program has ended, read or not. So the exit is watched, and then the rest is
   * read even if the log holds: it is no more than the kernel's buffer.
   */
  #hold(): void {
    if (this.#watch !== null || !this.#isOpen || this.#isLast) return
    this.#pty.pause()
    this.#watch = setInterval(() => {
      if (isPidInUse(this.#pty.pid)) return
      this.#isLast = true
      this.flow()
    }, 25)
  }

  #stopWatching(): void {
    if (this.#watch !== null) clearInterval(this.#watch)
    this.#watch = null
  }
}
