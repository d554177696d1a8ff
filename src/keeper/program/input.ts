import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'

export type InputAnswer =
  | { readonly type: 'written'; readonly bytes: number }
  | { readonly type: 'closed' }
  | { readonly type: 'full'; readonly waiting: number }

/** A program's standard input that is written piece by piece. */
export interface Input {
  write(bytes: Buffer): InputAnswer
  /** End of input. */
  end(): void
  /** The program has ended; unread input is discarded. */
  close(): void
}

/** How much may wait for a program that does not read. */
export const MAX_WAITING_BYTES = 1024 * 1024

/**
 * Standard input through a FIFO rather than a socket, so that `cat /dev/stdin` works. The program's side is read-only: were
 * it read-write, as for output, there would be no end of input.
 */
export class FifoInput implements Input {
  readonly #socket: Socket
  #isOpen = true

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: false, writable: true })
    // The program closed its standard input, or has ended: from now on the answer is `closed`.
    this.#socket.on('error', () => this.close())
  }

  write(bytes: Buffer): InputAnswer {
    if (!this.#isOpen) return { type: 'closed' }
    const waiting = this.#socket.writableLength
    if (waiting > 0 && waiting + bytes.length > MAX_WAITING_BYTES) return { type: 'full', waiting }
    this.#socket.write(bytes)
    return { type: 'written', bytes: bytes.length }
  }

  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#socket.end(() => this.#socket.destroy())
  }

  close(): void {
    this.#isOpen = false
    this.#socket.destroy()
  }
}

/**
 * Both ends of an input FIFO: opening one end alone would wait for the other, or fail. The program's descriptor is blocking,
 * as programs expect.
 */
export function openInputFifo(path: string): { programFd: number; keeperFd: number } {
  const both = openSync(path, constants.O_RDWR)
  try {
    const programFd = openSync(path, constants.O_RDONLY)
    const keeperFd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    return { programFd, keeperFd }
  } finally {
    closeSync(both)
  }
}
