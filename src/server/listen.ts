import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import { messageOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
import type { Env } from './app.ts'
import { type ConnectionLimits, Connections } from './connections.ts'
import type { Door } from './guard.ts'
import { limitHandshakes } from './handshakes.ts'
import { setCommonHeaders } from './headers.ts'
import type { LateTerminals } from './late-terminals.ts'
import { problemResponse } from './problem.ts'
import { endWith } from './raw-answer.ts'
import { SocketFile } from './socket-file.ts'

export interface Limits extends ConnectionLimits {
  readonly bodyBytes: number
  /** Requests, streams and terminals of one token that are open at once. */
  readonly requestsPerToken: number
  readonly headersMs: number
  readonly requestMs: number
  /** How long a client may stop reading its answer. */
  readonly stallMs: number
}

export const LIMITS: Limits = {
  connections: 512,
  unauthenticated: 64,
  unauthenticatedMs: 5_000,
  connectionsPerToken: 256,
  requestsPerToken: 128,
  bodyBytes: 4 * 1024 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  stallMs: 30_000,
}

/** Where a listener listens: a socket file that only its owner can open, or an address. */
export type ListenAddress =
  | { readonly path: string }
  | {
      readonly host: string
      readonly port: number
      readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
    }

const KEEP_ALIVE_MS = 5_000
const PROBE_MS = 30_000
const CHECK_MS = 1_000
/** How long requests that change something may take to finish when the server closes. */
const FINISH_MS = 5_000
/** How long waits and streams may take to end then. After that they are cut, and their clients ask again. */
const END_MS = 500

/** Accepts connections on one address up to the limit, and closes those that are stuck. */
export class Listener {
  readonly server: Server
  readonly #open: Connections
  readonly #socketFile: SocketFile | null
  readonly #busy = new Map<Socket, number>()
  /** Requests that are not answered yet. */
  readonly #asking = new Set<IncomingMessage>()
  /** Those of them that may change something. */
  readonly #changing = new Set<IncomingMessage>()
  #whenDone: (() => void) | undefined
  #whenQuiet: (() => void) | undefined

  private constructor(server: Server, open: Connections, socketFile: SocketFile | null) {
    this.server = server
    this.#open = open
    this.#socketFile = socketFile
  }

  static async open(
    address: ListenAddress,
    app: Hono<Env>,
    doorAt: (port: number) => Door,
    limits: Limits,
    terminals: LateTerminals,
  ): Promise<Listener> {
    const options = {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: CHECK_MS,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_MS,
    }
    const tls = 'tls' in address ? address.tls : undefined
    const server =
      tls === undefined
        ? createServer(options)
        : // Loaded here, because most daemons need no TLS.
          process
            .getBuiltinModule('node:https')
            .createServer({ ...options, ...tls, handshakeTimeout: limits.headersMs })
    // Only the user can open the socket file, so a connection there needs no token.
    const open = new Connections(limits, { needsToken: !('path' in address) })
    const socketFile = 'path' in address ? new SocketFile(address.path) : null
    const listener = new Listener(server, open, socketFile)
    server.keepAliveTimeout = KEEP_ALIVE_MS
    server.timeout = limits.stallMs
    listener.#limitConnections(tls === undefined ? 'connection' : 'secureConnection')
    if (tls !== undefined) limitHandshakes(server, limits.unauthenticated)
    server.on('timeout', (socket) => listener.#stalled(socket))
    server.on('clientError', (error, socket) => answerBroken(error, socket as Socket))
    await listening(server, address, socketFile)
    const door = doorAt('path' in address ? 0 : (server.address() as AddressInfo).port)
    const answer = getRequestListener(
      (request, bindings) => {
        const { incoming, outgoing } = bindings as HttpBindings
        const onlyReads = () => listener.#settled(incoming)
        const authenticated = (tokenId: string | null) => open.authenticated(incoming.socket, tokenId)
        return app.fetch(request, { incoming, outgoing, door, onlyReads, authenticated })
      },
      { errorHandler: unreadableResponse },
    )
    server.on('request', (request, response) => {
      listener.#begin(request)
      response.once('close', () => listener.#end(request))
      void answer(request, response)
    })
    server.on('upgrade', (request, socket, head) => {
      const authenticated = (tokenId: string | null) => open.authenticated(request.socket, tokenId)
      void terminals.upgrade({ request, socket, head, door, authenticated })
    })
    return listener
  }

  get port(): number | null {
    const address = this.server.address()
    return typeof address === 'object' && address !== null ? address.port : null
  }

  /** The address that it is bound to; null for a socket file. */
  get bound(): { readonly address: string; readonly port: number } | null {
    const bound = this.server.address()
    return typeof bound === 'object' && bound !== null ? { address: bound.address, port: bound.port } : null
  }

  get connections(): number {
    return this.#open.size
  }

  /** Whether a request about this process is pending. */
  hears(pid: string): boolean {
    return [...this.#asking].some(({ url }) => url?.includes(pid))
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close')
    this.server.close()
    this.server.closeIdleConnections()
    if (this.#changing.size > 0) await within(FINISH_MS, (done) => (this.#whenDone = done))
    if (this.#asking.size > 0) await within(END_MS, (quiet) => (this.#whenQuiet = quiet))
    for (const socket of this.#open) socket.destroy()
    await closed
    this.#socketFile?.remove()
  }

  #begin(request: IncomingMessage): void {
    const { socket, method } = request
    this.#asking.add(request)
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1)
    if (method !== 'GET' && method !== 'HEAD') this.#changing.add(request)
  }

  #end(request: IncomingMessage): void {
    const { socket } = request
    this.#asking.delete(request)
    if (this.#asking.size === 0) this.#whenQuiet?.()
    const left = (this.#busy.get(socket) ?? 1) - 1
    if (left === 0) this.#busy.delete(socket)
    else this.#busy.set(socket, left)
    this.#settled(request)
  }

  #settled(request: IncomingMessage): void {
    if (this.#changing.delete(request) && this.#changing.size === 0) this.#whenDone?.()
  }

  /** No byte was transferred for a while. A wait may be silent for long; a client that does not read its answer may not. */
  #stalled(socket: Socket): void {
    if (socket.writableLength > 0 || !this.#busy.has(socket)) socket.destroy()
  }

  /** Node would drop connections beyond its own limit without an answer. */
  #limitConnections(event: 'connection' | 'secureConnection'): void {
    const [handle] = this.server.listeners(event)
    this.server.removeAllListeners(event)
    this.server.on(event, (socket: Socket) => {
      const refused = this.#open.add(socket)
      if (refused === null) {
        handle?.call(this.server, socket)
        return
      }
      socket.on('error', () => socket.destroy())
      endWith(socket, refused)
    })
  }
}

async function within(ms: number, tell: (over: () => void) => void): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  tell(over.resolve)
  await over.promise
  clearTimeout(timer)
}

async function listening(
  server: Server,
  address: ListenAddress,
  socketFile: SocketFile | null,
): Promise<void> {
  const failed = Promise.withResolvers<never>()
  server.once('error', failed.reject)
  const listens = once(server, 'listening')
  if ('path' in address) socketFile?.listen(server)
  else server.listen({ host: address.host, port: address.port })
  try {
    await Promise.race([listens, failed.promise])
  } catch (error) {
    listens.catch(() => undefined)
    throw unusable(address, error as NodeJS.ErrnoException)
  }
}

function unusable(address: ListenAddress, error: NodeJS.ErrnoException): ReeveError {
  const name = 'path' in address ? address.path : `${address.host}:${address.port}`
  if (error.code === 'EADDRINUSE') {
    return new ReeveError(
      'address_in_use',
      `Another program listens on ${name}.`,
      'Stop that one, or choose another address: --listen 127.0.0.1:0 takes any free port.',
      { cause: error, details: { address: name } },
    )
  }
  const code = 'path' in address ? 'home_unusable' : 'bad_configuration'
  return new ReeveError(
    code,
    `Reeve cannot listen on ${name}: ${error.message}.`,
    'path' in address
      ? 'Choose another home with REEVE_HOME; a socket has a path of at most 107 bytes.'
      : 'Choose an address of this machine and a port that you may use.',
    { cause: error },
  )
}

/** Answers bytes that are not HTTP, and requests that take too long to arrive. */
function answerBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  endWith(socket, unreadable(error), status)
}

function unreadableResponse(error: unknown): Response {
  const response = problemResponse(unreadable(error))
  setCommonHeaders(response.headers)
  return response
}

function unreadable(error: unknown): ReeveError {
  const reason = messageOf(error)
  return new ReeveError('bad_request', `The request cannot be read: ${reason}.`, 'Send HTTP/1.1.', {
    cause: error,
  })
}
