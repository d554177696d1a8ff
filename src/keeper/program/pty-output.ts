import type { IPty } from '@lydell/node-pty'
import { isPidInUse } from '../../os/identity.ts'
import type { Output, OutputEvents } from './output.ts'

/** Output of a terminal. */
export class PtyOutput implements Output {
  readonly #pty: IPty
  #isOpen = true
  #isLast = false
  #watch: NodeJS.Timeout | null = null

  constructor(pty: IPty, events: Pick<OutputEvents, 'bytes'>) {
    this.#pty = pty
    pty.onData((data) => {
      // Without an encoding it gives bytes, whatever its types say.
      if (!events.bytes(data as unknown as Buffer, null)) this.#hold()
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  flow(): void {
    this.#stopWatching()
    if (this.#isOpen) this.#pty.resume()
  }

  /** It is read as it comes anyway. */
  wake(): void {}

  /** Nothing to do: all data is heard of before the exit is. */
  drain(): void {}

  /** A terminal is taken from all who have it open when the one it was made for ends. */
  leaderGone(): void {
    this.close()
  }

  close(): void {
    this.#isOpen = false
    this.#stopWatching()
  }

  /**
   * The library gives up a terminal 200 ms after its program has ended, read or not. So the end is watched for, and then the
   * rest is read whether the log takes it or not: it is no more than the kernel has room for.
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
