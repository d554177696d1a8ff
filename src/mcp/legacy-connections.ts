import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server'
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

const SWEEP_MS = 60_000
const MOST = 500

/** The connections of legacy clients, each with its server. One that is idle for long, without a stream, is forgotten. */
export class LegacyConnections {
  readonly #connect: (caller: McpCaller) => { server: McpServer; client: HttpClient }
  readonly #presence: Presence
  readonly #idleMs: number
  readonly #live = new Map<string, Connection>()
  readonly #sweeping: NodeJS.Timeout

  constructor(
    connect: (caller: McpCaller) => { server: McpServer; client: HttpClient },
    presence: Presence,
    idleMs: number,
  ) {
    this.#connect = connect
    this.#presence = presence
    this.#idleMs = idleMs
    this.#sweeping = setInterval(() => this.#forgetIdle(), Math.min(SWEEP_MS, idleMs)).unref()
  }

  async fetch(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return this.#begin(request, caller, message)
    const known = this.#live.get(id)
    // Knowing the id of somebody else's connection is no way into it.
    if (known === undefined || known.whose !== whoseOf(caller)) return notFound(message)
    return this.#handle(known, request, message)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    const closing = [...this.#live.values()].map(({ server }) => server.close())
    this.#live.clear()
    await Promise.all(closing)
  }

  /** Only a handshake makes a connection that lasts; the transport itself says what is wrong with anything else. */
  async #begin(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    const isHandshake = isInitializeRequest(message)
    if (isHandshake && !this.#makeRoom()) return tooMany(message)
    const transport = new Transport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.#live.set(id, connection),
      onsessionclosed: (id) => void this.#live.delete(id),
    })
    const { server, client } = this.#connect(caller)
    const connection = { transport, server, client, whose: whoseOf(caller), usedAt: Date.now(), streams: 0 }
    await server.connect(transport)
    const response = await this.#handle(connection, request, message)
    const isLive = transport.sessionId !== undefined && this.#live.has(transport.sessionId)
    return isLive ? response : untilOver(response, () => void server.close())
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

function whoseOf({ actor, tokenId }: McpCaller): string {
  return JSON.stringify([actor, tokenId])
}

function notFound(message: unknown): Response {
  return refused(404, -32_001, 'Session not found: initialize again.', message)
}

function tooMany(message: unknown): Response {
  return refused(503, -32_000, 'Too many MCP connections are open: close some, or try again later.', message)
}

function refused(status: number, code: number, text: string, message: unknown): Response {
  const { id = null } = Object(message) as { id?: unknown }
  return Response.json({ jsonrpc: '2.0', id, error: { code, message: text } }, { status })
}
