import { readSync } from 'node:fs'
import { Socket } from 'node:net'
import { codeOf } from '../../base/error-text.ts'
import { removeFile } from '../remove-file.ts'
import type { FifoPool } from './fifo-pool.ts'
import type { Output, OutputEvents } from './output.ts'
import type { Stream } from './output-log.ts'

export interface OpenedFifo {
  /** Read-only, non-blocking. */
  readonly fd: number
  readonly path: string
  readonly stream: Stream | null
}

/** Output through one FIFO, or through two to keep the streams apart. */
export class FifoOutput implements Output {
  readonly #pool: FifoPool
  readonly #readers: FifoReader[]
  readonly #paths: string[]

  constructor(fifos: readonly OpenedFifo[], pool: FifoPool, events: OutputEvents) {
    this.#pool = pool
    this.#paths = fifos.map(({ path }) => path)
    const ended = () => {
      if (!this.isOpen) events.ended()
    }
    this.#readers = fifos.map(({ fd, stream }) => {
      const take = (chunk: Buffer) => {
        const flows = events.bytes(chunk, stream)
        if (!flows) for (const reader of this.#readers) reader.hold()
        return flows
      }
      return new FifoReader(fd, { take, ended, isWatched: events.isWatched })
    })
  }

  get isOpen(): boolean {
    return this.#readers.some((reader) => reader.isOpen)
  }

  flow(): void {
    for (const reader of this.#readers) if (reader.isOpen) reader.flow()
  }

  wake(): void {
    for (const reader of this.#readers) reader.wake()
  }

  drain(): void {
    for (const reader of this.#readers) reader.drain()
  }

  /**
   * Removes the name: writers have it open already, and no later keeper needs it. A FIFO is reused only if it is proved to be
   * closed everywhere: another reader of it would get the output of the next program.
   */
  leaderGone(isTreeEmpty: boolean): void {
    for (const path of this.#paths.splice(0))
      if (isTreeEmpty && !this.isOpen) this.#pool.takeBack(path)
      else removeFile(path)
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
    this.leaderGone(false)
  }
}

/**
 * Reads a FIFO into one buffer that all readers share: a chunk is only valid until `take` returns. `take` returns false to get
 * no more until `flow`.
 *
 * Bytes that a keeper has read and not yet written die with it, and Node has no other way to move them. So such moments are made
 * rare: epoll reports the first bytes after a silence, which are read at once; a program that goes on to write little is then read
 * after rests, each with one read and one write right behind it. The rests are short while a follower waits for the output. A
 * program that writes a lot is read without rests.
 *
 * | state  | bytes come                              | the rest is over                                | take says no | flow    |
 * | reads  | taken; → rests, if there were but a few | –                                               | → held       | –       |
 * | rests  | wait in the FIFO                        | taken; none → reads, a few → rests, many → reads | → held      | –       |
 * | held   | wait in the FIFO                        | –                                               | –            | → reads |
 */
class FifoReader {
  readonly #fd: number
  readonly #events: FifoEvents
  readonly #socket: Socket
  #isOpen = true
  #isHeld = false
  #rest: NodeJS.Timeout | null = null
  /** Whether the program wrote a lot in the last span, and the bytes of this one. */
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

  /** A follower waits for the next bytes. */
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
   * Reads all bytes that are there now, even while held; closes itself if no writer is left. A FIFO holds at most
   * `MAX_FIFO_BYTES`, so everything that was written before this call is read by it, however fast others go on writing.
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

  /** Called by epoll. True to get more at once. */
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

  /** False if the program writes too much for a rest. A rest is short enough that the FIFO should not fill up. */
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
  /** Whether a follower waits for output. */
  isWatched(): boolean
  /** The last writer is gone. Not called after `close`. */
  ended(): void
}

/** The default capacity of a FIFO. */
const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** The system's default for /proc/sys/fs/pipe-max-size. */
const MAX_FIFO_BYTES = 1024 * 1024

/** A quarter of a FIFO. */
const FEW_BYTES = 16 * 1024
const SHORTEST_REST_MS = 2
const SHORT_REST_MS = 10
const LONG_REST_MS = 40

/** Null if there is nothing now; 0 if there will never be, or the FIFO can't be read any more. */
function readNow(fd: number): number | null {
  try {
    return readSync(fd, shared, 0, shared.length, null)
  } catch (error) {
    return codeOf(error) === 'EAGAIN' ? null : 0
  }
}
