import type { BytePty } from './byte-pty.ts'
import { type Input, type InputAnswer, MAX_WAITING_BYTES } from './input.ts'

/** The input of a program in a terminal. */
export class PtyInput implements Input {
  readonly #pty: BytePty
  #isOpen = true

  constructor(pty: BytePty) {
    this.#pty = pty
  }

  write(bytes: Buffer): InputAnswer {
    if (!this.#isOpen) return { type: 'closed' }
    const waiting = waitingBytes(this.#pty)
    if (waiting > 0 && waiting + bytes.length > MAX_WAITING_BYTES) return { type: 'full', waiting }
    this.#pty.write(bytes)
    return { type: 'written', bytes: bytes.length }
  }

  /** Types Ctrl-D. A terminal has no other end of input, and another program may read next. */
  end(): void {
    this.write(Buffer.from([4]))
  }

  close(): void {
    this.#isOpen = false
  }
}

/** The library does not say how much its socket has not yet passed on; the socket does. */
function waitingBytes({ _socket: socket }: BytePty): number {
  return socket?.writableLength ?? 0
}
