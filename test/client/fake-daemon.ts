import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Heard {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Answer = (response: ServerResponse, heard: Heard) => void

/** Answers with the given answers in order, on a Unix socket, and records the requests. The last answer repeats. */
export class FakeDaemon {
  readonly folder = mkdtempSync(join(tmpdir(), 'reeve-client-'))
  readonly socket = join(this.folder, 'reeve.sock')
  readonly heard: Heard[] = []
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  #answers: Answer[] = []
  /** How many connections clients have opened. */
  connections = 0

  constructor() {
    this.#server.on('connection', () => this.connections++)
    onTestFinished(async () => {
      await this.stop()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  async start(...answers: Answer[]): Promise<this> {
    this.#answers = answers
    await new Promise<void>((resolve) => this.#server.listen(this.socket, resolve))
    return this
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    let body = ''
    for await (const piece of request) body += String(piece)
    const heard = { method, path: pathname, query: searchParams, headers, body }
    this.heard.push(heard)
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
    answer?.(response, heard)
  }
}

export const STATUS = { daemon: { id: 'k_1', osPid: 1 }, keeper: null, live: 0, unreadable: [], boot: {} }

export function json(value: unknown, status = 200): Answer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** A part of a stream: 204 if there is nothing in it. */
export function page(
  bytes: string | null,
  next: number,
  flags: { upToDate?: boolean; closed?: boolean } = {},
): Answer {
  return (response) => {
    response.writeHead(bytes === null ? 204 : 200, {
      'stream-next-offset': String(next).padStart(16, '0'),
      ...(flags.upToDate ? { 'stream-up-to-date': 'true' } : {}),
      ...(flags.closed ? { 'stream-closed': 'true' } : {}),
    })
    response.end(bytes ?? undefined)
  }
}

/** Hangs up without an answer. */
export function cut(): Answer {
  return (response) => response.destroy()
}
