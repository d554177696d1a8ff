import type { Socket } from 'node:net'
import { type Answer, lineOf, lineReader, type Tell } from '../protocol/messages.ts'

export interface ConnectionEvents {
  heard(message: unknown): void
  /** A line that was passed over; this is how it began. */
  tooLong(start: string): void
  /** It said something that is no line of this protocol. It is cut off. */
  broken(error: unknown): void
  closed(): void
}

/**
 * One connection of a daemon. Never more than `MAX_UNREAD_BYTES` wait for it: a daemon that does not read is given no new
 * answers, since its questions are not read either, and is cut off if even that does not help. It finds all again when it
 * comes back.
 */
export class Connection {
  readonly #socket: Socket
  /** Programs whose logs have grown since that was last told, and their ends. */
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
        // Not somebody who speaks this protocol.
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

  /** With all that is said in the same turn of the event loop. */
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

  /** At once if it was quiet, else with all that comes within a few milliseconds. */
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

  /** For good, whether or not the other side closes too; but what was said still goes. */
  cutOff(): void {
    this.flush()
    this.#socket.destroySoon()
  }

  #tellGrown(): void {
    if (this.#grewTimer !== null) clearTimeout(this.#grewTimer)
    this.#grewTimer = null
    // It has not read what it was told before. The latest is told when it has.
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
