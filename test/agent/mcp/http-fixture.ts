import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { OAuthFixture } from './oauth-fixture.ts'

interface Asked {
  readonly method: string
  readonly authorization: string | undefined
  readonly header: string | undefined
}

interface Options {
  readonly token?: string
  readonly legacyOnly?: boolean
  /** Only tokens of this authorization server are accepted. */
  readonly oauth?: OAuthFixture
}

/** An MCP server over HTTP in this program. The older revision has sessions. */
export class HttpFixture {
  readonly asked: Asked[] = []
  readonly #server: Server
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  readonly #modern = createMcpHandler(() => build(), { legacy: 'reject' })
  readonly #options: Options

  private constructor(options: Options) {
    this.#options = options
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        if (answer.body !== null)
          for await (const chunk of answer.body)
            if (!response.write(chunk)) await new Promise((done) => response.once('drain', done))
        response.end()
      })
    })
  }

  static async listen(options: Options = {}): Promise<HttpFixture> {
    const fixture = new HttpFixture(options)
    await new Promise<void>((resolve) => fixture.#server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      fixture.#server.closeAllConnections()
      fixture.#server.close()
    })
    return fixture
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  /** The server forgets its sessions, as one that was restarted. */
  forgetSessions(): void {
    this.#sessions.clear()
  }

  async #answer(incoming: IncomingMessage): Promise<Response> {
    const body: Buffer[] = []
    for await (const chunk of incoming) body.push(chunk)
    const headers = new Headers(incoming.headers as Record<string, string>)
    const text = Buffer.concat(body).toString()
    this.asked.push({
      method: text === '' ? String(incoming.method) : String(JSON.parse(text).method),
      authorization: headers.get('authorization') ?? undefined,
      header: headers.get('x-team') ?? undefined,
    })
    const { token, legacyOnly = false, oauth } = this.#options
    const { origin } = new URL(this.url)
    if (oauth !== undefined && incoming.url?.startsWith('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: this.url, authorization_servers: [oauth.issuer] })
    if (oauth !== undefined && !oauth.accepts(headers.get('authorization'))) {
      const metadata = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
      return new Response('who are you?', { status: 401, headers: { 'www-authenticate': metadata } })
    }
    if (token !== undefined && headers.get('authorization') !== `Bearer ${token}`)
      return new Response('who are you?', { status: 401 })
    const request = new Request(this.url, {
      method: String(incoming.method),
      headers,
      ...(text === '' ? {} : { body: text }),
    })
    if (!legacyOnly && !(await isLegacyRequest(request.clone()))) return this.#modern.fetch(request)
    return this.#inSession(request)
  }

  async #inSession(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : this.#sessions.get(id)
    if (known !== undefined) return known.handleRequest(request)
    if (id !== null)
      return Response.json(
        { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'gone' } },
        { status: 404 },
      )
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => void this.#sessions.set(session, transport),
    })
    await build().connect(transport)
    return transport.handleRequest(request)
  }
}

function build(): McpServer {
  const server = new McpServer({ name: 'web', version: '1.0.0' })
  const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] })
  const one = { description: 'A tool', inputSchema: z.object({}) }
  server.registerTool('hello', one, () => text('hello'))
  server.registerTool('huge', one, () => text('x'.repeat(25_000_000)))
  server.registerTool('hang', one, () => new Promise<CallToolResult>(() => {}))
  return server
}
