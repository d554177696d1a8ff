import { readSync } from 'node:fs'
import { Socket } from 'node:net'
import { codeOf } from '../../base/error-text.ts'

/**
 * Reads a FIFO into one buffer that all readers share: a chunk is only good until `take` returns. `take` answers false to be
 * given no more until `flow`.
 *
 * What a keeper has read and not yet written dies with it, and the system has no other way to move it that Node knows. So it
 * is made rare: the first bytes after a silence are heard of by epoll and read at once; a program that writes on little by
 * little is then read after rests, each with one read and one write right behind it. The rests are short while somebody waits
 * for what it prints. One that writes a lot is read without rest.
 *
 * | state  | bytes come                              | the rest is over                                | take says no | flow    |
 * | reads  | taken; → rests, if there were but a few | –                                               | → held       | –       |
 * | rests  | wait in the FIFO                        | taken; none → reads, a few → rests, many → reads | → held      | –       |
 * | held   | wait in the FIFO                        | –                                               | –            | → reads |
 */
export class FifoReader {
  readonly #fd: number
  readonly #events: FifoEvents
  readonly #socket: Socket
  #isOpen = true
  #isHeld = false
  #rest: NodeJS.Timeout | null = null
  /** Whether it wrote a lot in the last span, and what came in this one. */
  #isBusy = false
  #spanFrom = 0
  #spanBytes = 0

  constructor(fd: number, events: FifoEvents) {
    this.#fd = fd
    this.#events = events
    this.#socket = new Socket({
      fd,
      readable: true,
      writable: false,
      onread: { buffer: shared, callback: (bytes) => this.#came(bytes) },
    })
    this.#socket.on('end', () => this.#over())
    this.#socket.on('error', () => this.#over())
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
   * `MAX_FIFO_BYTES`, so what was written before this call has been read after it, however fast others go on writing.
   */
  drain(): void {
    for (let read = 0; this.#isOpen && read < MAX_FIFO_BYTES; ) {
      const bytes = readNow(this.#fd)
      if (bytes === null) return
      if (bytes === 0) {
        this.close()
        return
      }
      this.#events.take(shared.subarray(0, bytes))
      read += bytes
    }
  }

  close(): void {
    this.#isOpen = false
    if (this.#rest !== null) clearTimeout(this.#rest)
    this.#rest = null
    this.#socket.destroy()
  }

  /** By epoll. True to be given more at once. */
  #came(bytes: number): boolean {
    return this.#events.take(shared.subarray(0, bytes)) && !this.#rests(bytes, SHORT_REST_MS)
  }

  #rested(): void {
    this.#rest = null
    if (this.#isHeld) return
    const bytes = readNow(this.#fd)
    if (bytes === null) this.#socket.resume()
    else if (bytes === 0) this.#over()
    else if (this.#events.take(shared.subarray(0, bytes)) && !this.#rests(bytes, this.#longestRestMs()))
      this.#socket.resume()
  }

  /** False if it writes too much for a rest. One is so long that no more should come than a FIFO takes without a wait. */
  #rests(bytes: number, longestMs: number): boolean {
    const now = performance.now()
    const spanMs = now - this.#spanFrom
    this.#spanBytes += bytes
    if (this.#isBusy && spanMs < SHORTEST_REST_MS) return false
    const restMs = Math.min((FEW_BYTES / this.#spanBytes) * spanMs, longestMs)
    this.#isBusy = restMs < SHORTEST_REST_MS
    this.#spanFrom = now
    this.#spanBytes = 0
    if (!this.#isBusy) this.#rest = setTimeout(() => this.#rested(), restMs)
    return !this.#isBusy
  }

  #longestRestMs(): number {
    return this.#events.isWatched() ? SHORT_REST_MS : LONG_REST_MS
  }

  #over(): void {
    if (!this.#isOpen) return
    this.close()
    this.#events.ended()
  }
}

interface FifoEvents {
  take(chunk: Buffer): boolean
  /** Whether somebody waits for what comes. */
  isWatched(): boolean
  /** The last that could write into it has gone. Not told of after `close`. */
  ended(): void
}

/** As much as one FIFO has unless it was told to have more. */
const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** The system's default for /proc/sys/fs/pipe-max-size. */
const MAX_FIFO_BYTES = 1024 * 1024

/** A quarter of a FIFO. */
const FEW_BYTES = 16 * 1024
const SHORTEST_REST_MS = 2
const SHORT_REST_MS = 10
const LONG_REST_MS = 40

/** Null if there is nothing now, 0 if there will never be: also where it can't be read any more. */
function readNow(fd: number): number | null {
  try {
    return readSync(fd, shared, 0, shared.length, null)
  } catch (error) {
    return codeOf(error) === 'EAGAIN' ? null : 0
  }
}
