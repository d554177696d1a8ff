import { closeSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { lineOf, lineReader, MAX_LINE_BYTES } from '../keeper/protocol/lines.ts'
import type { Answer, AskName, Asks, KeeperRefusal, Tell } from '../keeper/protocol/messages.ts'

/** The keeper refused a request. */
export class KeeperRefused extends Error {
  override readonly name = 'KeeperRefused'
  readonly refusal: KeeperRefusal
  constructor(refusal: KeeperRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The connection ended before the answer: the request may have been carried out or not. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
  constructor() {
    super('The connection to the keeper has ended.')
  }
}

interface Waiting {
  readonly resolve: (answer: Asks[AskName][1]) => void
  readonly reject: (error: Error) => void
}

/** One connection to a keeper: requests with their answers, and events. */
export class KeeperLink {
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  readonly #onTell: (tell: Tell) => void
  readonly #onLost: () => void
  #asked = 0
  #lost = false

  private constructor(socket: Socket, onTell: (tell: Tell) => void, onLost: () => void) {
    this.#socket = socket
    this.#onTell = onTell
    this.#onLost = onLost
    const messages: (Answer | Tell)[] = []
    const read = lineReader((message) => messages.push(message as Answer | Tell))
    socket.on('data', (chunk) => {
      try {
        read(chunk)
      } catch {
        // A peer that sends no JSON is not a keeper: pending requests reject as lost.
        socket.destroy()
      }
      for (const message of messages.splice(0)) this.#heard(message)
    })
    // 'close' follows every error, and is handled instead.
    socket.on('error', () => {})
    socket.on('close', () => this.#ended())
  }

  /** Rejects as `connect` does (ENOENT, ECONNREFUSED) when no keeper listens there. */
  static open(path: string, onTell: (tell: Tell) => void, onLost: () => void): Promise<KeeperLink> {
    const { reachable, done } = reachableOf(path)
    return new Promise((resolve, reject) => {
      const socket = connect(reachable)
      socket.once('error', reject)
      socket.once('close', done)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new KeeperLink(socket, onTell, onLost))
      })
    })
  }

  ask<Name extends AskName>(name: Name, asked: Asks[Name][0]): Promise<Asks[Name][1]> {
    if (this.#lost) return Promise.reject(new LinkLost())
    this.#asked += 1
    const id = this.#asked
    const line = lineOf({ id, ask: name, ...asked } as Parameters<typeof lineOf>[0])
    if (Buffer.byteLength(line) > MAX_LINE_BYTES) return Promise.reject(new KeeperRefused(tooLong(name)))
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject })
      this.#socket.write(line)
    })
  }

  /** Lets this program exit while only the keeper's socket is open. */
  unref(): void {
    this.#socket.unref()
  }

  close(): void {
    this.#socket.destroy()
  }

  #heard(message: Answer | Tell): void {
    if ('tell' in message) {
      this.#onTell(message)
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('error' in message) waiting?.reject(new KeeperRefused(message.error))
    else waiting?.resolve(message.answer)
  }

  #ended(): void {
    this.#lost = true
    for (const { reject } of this.#waiting.values()) reject(new LinkLost())
    this.#waiting.clear()
    this.#onLost()
  }
}

/** Refuses a line that is too long: the keeper would close the connection, and with it all pending requests. */
function tooLong(name: AskName): KeeperRefusal {
  return { code: 'bad_ask', message: `What it needs for \`${name}\` is longer than ${MAX_LINE_BYTES} bytes.` }
}

/** The limit of the operating system, less a margin. */
const MAX_SOCKET_PATH_BYTES = 100

/** A socket deep in the file system is reached through a descriptor of its folder. */
function reachableOf(path: string): { reachable: string; done: () => void } {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { reachable: path, done: () => {} }
  const folder = openSync(dirname(path), 'r')
  return { reachable: `/proc/self/fd/${folder}/socket`, done: () => closeSync(folder) }
}
