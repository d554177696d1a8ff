import type { IPty } from '@lydell/node-pty'
import { type Input, type InputAnswer, MAX_WAITING_BYTES } from './input.ts'

/** What is typed into a terminal. */
export class PtyInput implements Input {
  readonly #pty: IPty
  #isOpen = true

  constructor(pty: IPty) {
    this.#pty = pty
  }

  write(bytes: Buffer): InputAnswer {
    if (!this.#isOpen) return { type: 'closed' }
    const waiting = waitingBytes(this.#pty)
    if (waiting > 0 && waiting + bytes.length > MAX_WAITING_BYTES) return { type: 'full', waiting }
    // It takes bytes as well, whatever its types say; text would be encoded anew.
    this.#pty.write(bytes as unknown as string)
    return { type: 'written', bytes: bytes.length }
  }

  /** As a person does it: Ctrl-D. A terminal has no other end, and what reads next may be somebody else. */
  end(): void {
    this.write(Buffer.from([4]))
  }

  close(): void {
    this.#isOpen = false
  }
}

/** The library does not say how much its socket has not yet passed on; the socket does. */
function waitingBytes(pty: IPty): number {
  const { _socket: socket } = pty as unknown as { readonly _socket?: { readonly writableLength?: number } }
  return socket?.writableLength ?? 0
}
