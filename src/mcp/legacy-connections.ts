import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server'
import { type ConnectionClaims, type ConnectionIds, claimsOf } from './connection-id.ts'
import type { HttpClient, McpCaller } from './http-client.ts'
import type { OpenStreams } from './open-streams.ts'
import { requestedFolder } from './requested-folder.ts'
import { whenResponseEnds } from './when-response-ends.ts'

interface Connection {
  readonly transport: Transport
  readonly server: McpServer
  readonly client: HttpClient
  readonly owner: string
  usedAt: number
  streams: number
}

type Connect = (caller: McpCaller, claims: ConnectionClaims) => { server: McpServer; client: HttpClient }

const SWEEP_MS = 60_000
const MAX_CONNECTIONS = 500
const MAX_CLOSED = 1_000

/**
 * The connections of legacy clients, each with its server. A connection that is idle for long and has no open stream is
 * evicted. Its id carries its claims: when the client uses the id again, with this daemon or the next, it is restored.
 */
export class LegacyConnections {
  readonly #connect: Connect
  readonly #ids: ConnectionIds
  readonly #openStreams: OpenStreams
  readonly #idleMs: number
  readonly #live = new Map<string, Connection>()
  readonly #reviving = new Map<string, Promise<Connection | null>>()
  /** Ids that clients closed; the oldest are evicted. */
  readonly #closed = new Set<string>()
  readonly #sweeping: NodeJS.Timeout
  #isClosing = false

  constructor(connect: Connect, ids: ConnectionIds, openStreams: OpenStreams, idleMs: number) {
    this.#connect = connect
    this.#ids = ids
    this.#openStreams = openStreams
    this.#idleMs = idleMs
    this.#sweeping = setInterval(() => this.#forgetIdle(), Math.min(SWEEP_MS, idleMs)).unref()
  }

  async fetch(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    if (this.#isClosing) return closing(message)
    const id = request.headers.get('mcp-session-id')
    if (id === null) return this.#begin(request, caller, message)
    const known = this.#live.get(id)
    // The id of another caller's connection gives no access to it.
    if (known !== undefined && known.owner === callerKey(caller)) return this.#handle(known, request, message)
    const claims = this.#closed.has(id) ? null : this.#ids.read(id, callerKey(caller))
    if (claims === null) return notFound(message)
    const revived = await this.#revive(id, claims, request.url, caller)
    if (this.#isClosing) return closing(message)
    return revived === null ? tooMany(message) : this.#handle(revived, request, message)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#sweeping)
    await Promise.allSettled(this.#reviving.values())
    const servers = [...this.#live.values()].map(({ server }) => server)
    this.#live.clear()
    await Promise.all(servers.map((server) => server.close()))
  }

  /** Only a handshake makes a lasting connection. The transport answers any other request with an error. */
  async #begin(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    const isHandshake = isInitializeRequest(message)
    if (isHandshake && !this.#makeRoom()) return tooMany(message)
    const claims = claimsOf(isHandshake ? message.params : NO_HANDSHAKE, requestedFolder(request))
    const connection = await this.#open(this.#ids.issue(claims, callerKey(caller)), claims, caller)
    const { transport, server } = connection
    const response = await this.#handle(connection, request, message)
    const isLive = transport.sessionId !== undefined && this.#live.has(transport.sessionId)
    return isLive ? response : whenResponseEnds(response, () => void server.close())
  }

  /** Several requests may restore one connection at the same time. */
  #revive(id: string, claims: ConnectionClaims, url: string, caller: McpCaller): Promise<Connection | null> {
    const under = this.#reviving.get(id)
    if (under !== undefined) return under
    const reviving = this.#repeatHandshake(id, claims, url, caller).finally(() => this.#reviving.delete(id))
    this.#reviving.set(id, reviving)
    return reviving
  }

  /** Repeats the handshake of the client. Null: there are too many connections. */
  async #repeatHandshake(
    id: string,
    claims: ConnectionClaims,
    url: string,
    caller: McpCaller,
  ): Promise<Connection | null> {
    if (!this.#makeRoom()) return null
    const connection = await this.#open(id, claims, caller)
    const { protocolVersion, capabilities, clientInfo } = claims
    const params = { protocolVersion, capabilities, clientInfo }
    const messages = [
      { jsonrpc: '2.0', id: 0, method: 'initialize', params },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ]
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': id,
    }
    try {
      for (const parsedBody of messages) {
        const request = new Request(url, { method: 'POST', headers, body: JSON.stringify(parsedBody) })
        const response = await connection.transport.handleRequest(request, { parsedBody })
        await response.text()
      }
    } catch (error) {
      this.#live.delete(id)
      await connection.server.close()
      throw error
    }
    return connection
  }

  async #open(id: string, claims: ConnectionClaims, caller: McpCaller): Promise<Connection> {
    const transport = new Transport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => void this.#live.set(id, connection),
      onsessionclosed: () => this.#end(id),
    })
    const { server, client } = this.#connect(caller, claims)
    const connection = { transport, server, client, owner: callerKey(caller), usedAt: Date.now(), streams: 0 }
    await server.connect(transport)
    return connection
  }

  #end(id: string): void {
    this.#live.delete(id)
    this.#closed.add(id)
    const [oldest] = this.#closed
    if (this.#closed.size > MAX_CLOSED && oldest !== undefined) this.#closed.delete(oldest)
  }

  async #handle(connection: Connection, request: Request, message: unknown): Promise<Response> {
    connection.usedAt = Date.now()
    const leave = this.#openStreams.track(connection.client.located)
    const isListening = request.method === 'GET'
    connection.streams++
    if (isListening) connection.client.listeners++
    const over = () => {
      connection.streams--
      if (isListening) connection.client.listeners--
      connection.usedAt = Date.now()
      leave()
    }
    try {
      const parsed = message === undefined ? {} : { parsedBody: message }
      return whenResponseEnds(await connection.transport.handleRequest(request, parsed), over)
    } catch (error) {
      over()
      throw error
    }
  }

  #forgetIdle(now = Date.now()): void {
    for (const [id, { server, streams, usedAt }] of this.#live) {
      if (streams > 0 || now - usedAt < this.#idleMs) continue
      this.#live.delete(id)
      void server.close()
    }
  }

  /** Evicts the connection that has been idle longest. */
  #makeRoom(): boolean {
    if (this.#live.size < MAX_CONNECTIONS) return true
    const idle = [...this.#live].filter(([, { streams }]) => streams === 0)
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest === undefined) return false
    this.#live.delete(oldest[0])
    void oldest[1].server.close()
    return true
  }
}

/** For a request that is not a handshake and will be refused. */
const NO_HANDSHAKE = { clientInfo: { name: '', version: '' }, protocolVersion: '', capabilities: {} }

function callerKey({ actor, tokenId }: McpCaller): string {
  return JSON.stringify([actor, tokenId])
}

function notFound(message: unknown): Response {
  return refused(404, -32_001, 'Session not found: initialize again.', message)
}

function tooMany(message: unknown): Response {
  return refused(503, -32_000, 'Too many MCP connections are open: close some, or try again later.', message)
}

function closing(message: unknown): Response {
  return refused(503, -32_000, 'The server is being stopped: try again later.', message)
}

function refused(status: number, code: number, text: string, message: unknown): Response {
  const { id = null } = Object(message) as { id?: unknown }
  return Response.json({ jsonrpc: '2.0', id, error: { code, message: text } }, { status })
}
