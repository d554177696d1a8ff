import type * as http from 'node:http'
import { ReeveError } from '../core/errors.ts'
import { refuseForeignSocket } from '../home/ownership.ts'
import { isInsideProgram } from '../os/program-marks.ts'
import { type Address, isLoopback } from './address.ts'
import { brokenWith, foundClosed, wasNeverSent } from './broken.ts'
import { IdleConnections } from './idle-connections.ts'

export interface Asked {
  readonly method: string
  /** The whole path, with its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Answered {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Read it to its end, or destroy it: until then the connection is in use. */
  readonly body: http.IncomingMessage
}

/** Requests to one daemon, over its socket or TCP, on pooled connections. */
export class Transport {
  readonly address: Address
  #agent: http.Agent | undefined
  readonly #idle = new IdleConnections()
  #closed = false
  #answered = false
  #isSocketOurs = false
  #isPerson: boolean | undefined

  constructor(address: Address) {
    this.address = address
  }

  /** Resolves with the head of the answer. Network errors become `daemon_unreachable`. */
  async ask(asked: Asked): Promise<Answered> {
    for (;;) {
      const answered = await this.#askOnce(asked)
      if (answered !== 'found closed') return answered
    }
  }

  /** `found closed`: the daemon had closed the pooled connection before the request was sent. */
  async #askOnce({ method, path, headers = {}, body, signal }: Asked): Promise<Answered | 'found closed'> {
    if (this.#closed) throw closedError()
    this.refuseForeignSocket()
    const { socket, url } = this.address
    const isTls = url?.protocol === 'https:'
    // An import would read every member of the module, and one of them loads a whole HTTP client that is not needed here.
    const { Agent, request } = process.getBuiltinModule(isTls ? 'node:https' : 'node:http')
    this.#agent ??= new Agent({ keepAlive: true })
    const agent = this.#agent
    this.#idle.closeStale(agent)
    const options: http.RequestOptions = {
      agent,
      method,
      path,
      headers: this.headersWith(headers, body),
      ...(socket === null
        ? { host: hostOf(url), port: url?.port || (isTls ? 443 : 80) }
        : { socketPath: socket }),
    }
    return new Promise((resolve, reject) => {
      const asked = request(options)
      const release = abortOn(asked, signal)
      asked.on('response', (response) => {
        this.#answered = true
        const { socket: connection } = response
        response.once('end', () => this.#idle.note(connection, response.headers))
        for (const end of ['end', 'close']) response.once(end, release)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response })
      })
      asked.on('error', (error) => {
        release()
        if (signal?.aborted) return reject(signal.reason)
        const isFoundClosed = foundClosed(error, asked)
        // The next attempt needs a new connection: every repetition leaves fewer pooled ones.
        if (isFoundClosed) this.#idle.closeAll(agent)
        if (isFoundClosed && isOnThisMachine(this.address)) resolve('found closed')
        else reject(brokenWith(error, this.address.shown, wasNeverSent(error, asked)))
      })
      asked.end(body)
    })
  }

  /** Before the first request, and before a WebSocket: throws if another user listens there. */
  refuseForeignSocket(): void {
    const { socket } = this.address
    if (socket === null || this.#isSocketOurs) return
    this.#isSocketOurs = refuseForeignSocket(socket)
  }

  /** The headers of every request, also of a WebSocket's. */
  headersWith(headers: Readonly<Record<string, string>>, body?: string): Record<string, string> {
    const { token, url } = this.address
    this.#isPerson ??= token === null && url === null && !isInsideProgram()
    return {
      host: url === null ? 'localhost' : url.host,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      // On the socket: the user called, and not a program that an agent had Reeve start.
      ...(this.#isPerson ? { 'reeve-person': '1' } : {}),
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    }
  }

  /** Whether a daemon has ever answered here. */
  get hasAnswered(): boolean {
    return this.#answered
  }

  get isClosed(): boolean {
    return this.#closed
  }

  close(): void {
    this.#closed = true
    this.#agent?.destroy()
  }
}

/** Not the option `signal` of Node: it would also destroy a connection that another request uses by then. */
function abortOn(asked: http.ClientRequest, signal: AbortSignal | undefined): () => void {
  if (signal === undefined) return () => undefined
  const abort = () => void asked.destroy()
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}

export function closedError(): ReeveError {
  return new ReeveError('closed', 'This client was closed.', 'Connect again.')
}

/** Between machines a proxy or a firewall may reset a connection after the daemon has read the request. */
function isOnThisMachine({ socket, url }: Address): boolean {
  return socket !== null || isLoopback(url?.hostname ?? '')
}

/** Without the brackets of an IPv6 address, which only a URL needs. */
function hostOf(url: URL | null): string {
  return (url?.hostname ?? '').replace(/^\[(.*)\]$/, '$1')
}
