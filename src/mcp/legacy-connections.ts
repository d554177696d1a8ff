import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server'
import { askedFolder } from './asked-folder.ts'
import { type ConnectionClaims, type ConnectionIds, claimsOf } from './connection-id.ts'
import type { HttpClient, McpCaller } from './http-client.ts'
import type { Presence } from './presence.ts'
import { untilOver } from './until-over.ts'

interface Connection {
  readonly transport: Transport
  readonly server: McpServer
  readonly client: HttpClient
  readonly whose: string
  usedAt: number
  streams: number
}

type Connect = (caller: McpCaller, claims: ConnectionClaims) => { server: McpServer; client: HttpClient }

const SWEEP_MS = 60_000
const MOST = 500
const MAX_CLOSED = 1_000

/**
 * The connections of legacy clients, each with its server. One that is idle for long, without a stream, is forgotten. Its id
 * says what it is made of: when its client asks for it again, of this daemon or of the next, it is restored.
 */
export class LegacyConnections {
  readonly #connect: Connect
  readonly #ids: ConnectionIds
  readonly #presence: Presence
  readonly #idleMs: number
  readonly #live = new Map<string, Connection>()
  readonly #reviving = new Map<string, Promise<Connection | null>>()
  /** Ids that their clients ended; the oldest are forgotten. */
  readonly #closed = new Set<string>()
  readonly #sweeping: NodeJS.Timeout
  #isClosing = false

  constructor(connect: Connect, ids: ConnectionIds, presence: Presence, idleMs: number) {
    this.#connect = connect
    this.#ids = ids
    this.#presence = presence
    this.#idleMs = idleMs
    this.#sweeping = setInterval(() => this.#forgetIdle(), Math.min(SWEEP_MS, idleMs)).unref()
  }

  async fetch(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    if (this.#isClosing) return closing(message)
    const id = request.headers.get('mcp-session-id')
    if (id === null) return this.#begin(request, caller, message)
    const known = this.#live.get(id)
    // Knowing the id of somebody else's connection is no way into it.
    if (known !== undefined && known.whose === whoseOf(caller)) return this.#handle(known, request, message)
    const claims = this.#closed.has(id) ? null : this.#ids.read(id, whoseOf(caller))
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

  /** Only a handshake makes a connection that lasts; the transport itself says what is wrong with anything else. */
  async #begin(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    const isHandshake = isInitializeRequest(message)
    if (isHandshake && !this.#makeRoom()) return tooMany(message)
    const claims = claimsOf(isHandshake ? message.params : NO_HANDSHAKE, askedFolder(request))
    const connection = await this.#open(this.#ids.issue(claims, whoseOf(caller)), claims, caller)
    const { transport, server } = connection
    const response = await this.#handle(connection, request, message)
    const isLive = transport.sessionId !== undefined && this.#live.has(transport.sessionId)
    return isLive ? response : untilOver(response, () => void server.close())
  }

  /** Several requests may ask for it at once. */
  #revive(id: string, claims: ConnectionClaims, url: string, caller: McpCaller): Promise<Connection | null> {
    const under = this.#reviving.get(id)
    if (under !== undefined) return under
    const reviving = this.#repeatHandshake(id, claims, url, caller).finally(() => this.#reviving.delete(id))
    this.#reviving.set(id, reviving)
    return reviving
  }

  /** Sends the messages that the client began its connection with. Null: there is no room. */
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
    const connection = { transport, server, client, whose: whoseOf(caller), usedAt: Date.now(), streams: 0 }
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
    const leave = this.#presence.during(connection.client.placed)
    connection.streams++
    const over = () => {
      connection.streams--
      connection.usedAt = Date.now()
      leave()
    }
    try {
      const parsed = message === undefined ? {} : { parsedBody: message }
      return untilOver(await connection.transport.handleRequest(request, parsed), over)
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

  /** The one that was idle for longest makes room. */
  #makeRoom(): boolean {
    if (this.#live.size < MOST) return true
    const idle = [...this.#live].filter(([, { streams }]) => streams === 0)
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest === undefined) return false
    this.#live.delete(oldest[0])
    void oldest[1].server.close()
    return true
  }
}

/** Of a request that is none, and will be refused. */
const NO_HANDSHAKE = { clientInfo: { name: '', version: '' }, protocolVersion: '', capabilities: {} }

function whoseOf({ actor, tokenId }: McpCaller): string {
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
