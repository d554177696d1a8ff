import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Connecting, clientOf } from './connected.ts'

interface AtDaemon extends Connecting {
  readonly url: string
  readonly token: string
  /** The folder in the URL. */
  readonly folder?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Opens no stream for requests and notifications of the server. */
  readonly isDeaf?: boolean
}

export interface HttpClient {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  /** The requested methods, in order. */
  readonly asked: string[]
}

/** A client of a daemon's `/mcp`, over a socket. */
export async function clientAtDaemon({
  url,
  token,
  folder,
  headers = {},
  isDeaf = false,
  ...connecting
}: AtDaemon): Promise<HttpClient> {
  const at = new URL('/mcp', url)
  if (folder !== undefined) at.searchParams.set('folder', folder)
  const asked: string[] = []
  const transport = new StreamableHTTPClientTransport(at, {
    requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
    fetch: async (to, init) => {
      if (isDeaf && init?.method === 'GET') return new Response(null, { status: 405 })
      if (typeof init?.body === 'string') asked.push(String(Object(JSON.parse(init.body)).method))
      return fetch(to, init)
    },
  })
  const client = clientOf(connecting)
  await client.connect(transport)
  return { client, transport, asked }
}
