import type { Socket } from 'node:net'
import { lineOf, lineReader } from '../protocol/lines.ts'
import type { Answer, Tell } from '../protocol/messages.ts'

export interface ConnectionEvents {
  heard(message: unknown): void
  /** A line was skipped; this is its beginning. */
  tooLong(start: string): void
  /** The peer violated the protocol, and is disconnected. */
  broken(error: unknown): void
  closed(): void
}

/**
 * One connection of a daemon. At most `MAX_UNREAD_BYTES` wait for it: the requests of a daemon that does not read are not read
 * either, so it gets no new answers, and it is disconnected if that does not suffice. It learns everything again when it
 * reconnects.
 */
export class Connection {
  readonly #socket: Socket
  /** Programs whose logs have grown since the last report, and their ends. */
  readonly #grown = new Map<string, number>()
  #grewTimer: NodeJS.Timeout | null = null
  readonly #said: string[] = []
  #isBroken = false

  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket
    const read = lineReader(
      (message) => {
        if (!socket.destroyed) events.heard(message)
      },
      (start) => events.tooLong(start),
    )
    socket.on('data', (chunk) => {
      if (this.#isBroken) return
      try {
        read(chunk)
      } catch (error) {
        // The peer does not speak this protocol.
        this.#isBroken = true
        events.broken(error)
      }
      if (socket.writableLength > READ_NO_MORE_BYTES) socket.pause()
    })
    socket.on('drain', () => {
      socket.resume()
      if (this.#grown.size > 0) this.#tellGrown()
    })
    // 'close' follows every error.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#grewTimer !== null) clearTimeout(this.#grewTimer)
      events.closed()
    })
  }

  /** Batches everything that is sent in the same turn of the event loop. */
  send(message: Answer | Tell): void {
    if (this.#said.length === 0) setImmediate(() => this.flush())
    this.#said.push(lineOf(message))
  }

  flush(): void {
    if (this.#said.length === 0) return
    const lines = this.#said.splice(0).join('')
    if (this.#socket.destroyed) return
    this.#socket.write(lines)
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#socket.destroy()
  }

  /** Reports at once after a quiet time, else batched over a few milliseconds. */
  grew(pid: string, end: number): void {
    this.#grown.set(pid, end)
    this.#grewTimer ??= setTimeout(() => this.#tellGrown(), 0)
  }

  close(): void {
    this.flush()
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Closes both directions after flushing, without waiting for the other side to close. */
  cutOff(): void {
    this.flush()
    this.#socket.destroySoon()
  }

  #tellGrown(): void {
    if (this.#grewTimer !== null) clearTimeout(this.#grewTimer)
    this.#grewTimer = null
    // The daemon has not read the last report yet. The newest is sent when it has.
    if (this.#socket.writableNeedDrain) return
    if (this.#grown.size === 0) return
    const lines = [...this.#grown].map(([pid, end]) => lineOf({ tell: 'grew', pid, end }))
    this.#grown.clear()
    if (!this.#socket.destroyed) this.#socket.write(lines.join(''))
    this.#grewTimer = setTimeout(() => this.#tellGrown(), GREW_EVERY_MS)
  }
}

const READ_NO_MORE_BYTES = 1024 * 1024
const MAX_UNREAD_BYTES = 32 * 1024 * 1024
const GREW_EVERY_MS = 10
