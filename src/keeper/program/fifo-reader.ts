import { readSync } from 'node:fs'
import { Socket } from 'node:net'

/**
 * Reads a FIFO as bytes come, by epoll, into one buffer that all readers share: a chunk is only good until `take` returns.
 * `take` answers false to be given no more until `flow`.
 */
export class FifoReader {
  readonly #fd: number
  readonly #take: (chunk: Buffer) => boolean
  readonly #socket: Socket
  #isOpen = true

  /** `ended`: the last that could write into it has gone. Not told of after `close`. */
  constructor(fd: number, take: (chunk: Buffer) => boolean, ended: () => void) {
    this.#fd = fd
    this.#take = take
    this.#socket = new Socket({
      fd,
      readable: true,
      writable: false,
      onread: { buffer: shared, callback: (bytes) => take(shared.subarray(0, bytes)) },
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

  hold(): void {
    this.#socket.pause()
  }

  flow(): void {
    this.#socket.resume()
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
    this.#socket.destroy()
  }
}

/** As much as one FIFO has unless it was told to have more. */
const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** The system's default for /proc/sys/fs/pipe-max-size. */
const MOST_IN_A_FIFO = 1024 * 1024

/** Null if there is nothing now, 0 if there will never be. */
function readNow(fd: number): number | null {
  try {
    return readSync(fd, shared, 0, shared.length, null)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return null
    throw error
  }
}
