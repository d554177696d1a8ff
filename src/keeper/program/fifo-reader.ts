import { readSync } from 'node:fs'
import { Socket } from 'node:net'
import { codeOf } from '../error-text.ts'

/**
 * Reads a FIFO as bytes come, by epoll, into one buffer that all readers share: a chunk is only good until `take` returns.
 * `take` answers false to be given no more until `flow`.
 *
 * A program that writes little by little is not read at every write, but after a rest of a few milliseconds. That costs
 * neither side much. Above all it makes it rare that a keeper is killed between the read of a chunk and the end of its write,
 * which is the one moment in which the death of a keeper loses output: the system has no other way to move it that Node knows.
 * The first bytes after a silence are read at once, and one that writes a lot is read without rest.
 *
 * | state  | bytes come                                | the rest is over | take says no | flow    |
 * | reads  | taken; → rests, if there were but a few   | –                | → held       | –       |
 * | rests  | wait in the FIFO                          | → reads          | –            | –       |
 * | held   | wait in the FIFO                          | –                | –            | → reads |
 */
export class FifoReader {
  readonly #fd: number
  readonly #take: (chunk: Buffer) => boolean
  readonly #socket: Socket
  #isOpen = true
  #isHeld = false
  #rest: NodeJS.Timeout | null = null
  /** Whether it wrote a lot in the last span, and what came in this one. */
  #isBusy = false
  #spanFrom = 0
  #spanBytes = 0

  /** `ended`: the last that could write into it has gone. Not told of after `close`. */
  constructor(fd: number, take: (chunk: Buffer) => boolean, ended: () => void) {
    this.#fd = fd
    this.#take = take
    this.#socket = new Socket({
      fd,
      readable: true,
      writable: false,
      onread: { buffer: shared, callback: (bytes) => this.#came(bytes) },
    })
    const over = () => {
      if (!this.#isOpen) return
      this.close()
      ended()
    }
    this.#socket.on('end', over)
    this.#socket.on('error', over)
    this.#socket.resume()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** What comes next is waited for. */
  wake(): void {
    if (this.#rest === null) return
    clearTimeout(this.#rest)
    this.#rested()
  }

  hold(): void {
    this.#isHeld = true
    this.#socket.pause()
  }

  flow(): void {
    this.#isHeld = false
    if (this.#rest === null) this.#socket.resume()
  }

  /**
   * Reads what is there now, whether it flows or not; closes itself if nobody can write any more. A FIFO holds no more than
   * `MOST_IN_A_FIFO`, so what was written before this call has been read after it, however fast others go on writing.
   */
  drain(): void {
    for (let read = 0; this.#isOpen && read < MOST_IN_A_FIFO; ) {
      const bytes = readNow(this.#fd)
      if (bytes === null) return
      if (bytes === 0) {
        this.close()
        return
      }
      this.#take(shared.subarray(0, bytes))
      read += bytes
    }
  }

  close(): void {
    this.#isOpen = false
    if (this.#rest !== null) clearTimeout(this.#rest)
    this.#rest = null
    this.#socket.destroy()
  }

  /** True to be given more at once. */
  #came(bytes: number): boolean {
    if (!this.#take(shared.subarray(0, bytes))) return false
    const now = performance.now()
    const spanMs = now - this.#spanFrom
    this.#spanBytes += bytes
    if (this.#isBusy && spanMs < SHORTEST_REST_MS) return true
    // So long that no more should come than a FIFO takes without making its writer wait.
    const restMs = Math.min((FEW_BYTES / this.#spanBytes) * spanMs, LONGEST_REST_MS)
    this.#isBusy = restMs < SHORTEST_REST_MS
    this.#spanFrom = now
    this.#spanBytes = 0
    if (!this.#isBusy) this.#rest = setTimeout(() => this.#rested(), restMs)
    return this.#isBusy
  }

  #rested(): void {
    this.#rest = null
    if (!this.#isHeld) this.#socket.resume()
  }
}

/** As much as one FIFO has unless it was told to have more. */
const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** The system's default for /proc/sys/fs/pipe-max-size. */
const MOST_IN_A_FIFO = 1024 * 1024

/** A quarter of a FIFO. */
const FEW_BYTES = 16 * 1024
const SHORTEST_REST_MS = 2
const LONGEST_REST_MS = 10

/** Null if there is nothing now, 0 if there will never be: also where it can't be read any more. */
function readNow(fd: number): number | null {
  try {
    return readSync(fd, shared, 0, shared.length, null)
  } catch (error) {
    return codeOf(error) === 'EAGAIN' ? null : 0
  }
}
