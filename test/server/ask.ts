import { type IncomingHttpHeaders, request } from 'node:http'
import type { Daemon } from '../../src/daemon/up.ts'

/** The listener and the content of a request. */
export interface Asking {
  /** The Unix socket, unless a token or a URL is given. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly raw?: string | Buffer
  readonly signal?: AbortSignal
}

export interface Said {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the raw answer
  readonly json: any
}

type Where = { readonly home: { readonly socket: string }; readonly url: string | null }

/** One request, `'GET /v1/status'`, on a connection of its own. Paths go out as they are written. */
export function ask(
  daemon: Where | Daemon,
  what: string,
  { token, headers = {}, body, raw, signal }: Asking = {},
): Promise<Said> {
  const [method = 'GET', ...rest] = what.split(' ')
  const path = rest.join(' ')
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const { hostname, port } = new URL(daemon.url ?? 'http://localhost')
  return new Promise((resolve, reject) => {
    const asked = request({
      ...(token === undefined ? { socketPath: daemon.home.socket } : { host: hostname, port }),
      method,
      path,
      agent: false,
      headers: {
        ...(token === undefined || token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    })
    asked.on('error', reject)
    asked.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(pieces)
        const { statusCode = 0, headers } = response
        resolve({
          status: statusCode,
          headers,
          bytes,
          text: bytes.toString(),
          get json() {
            return JSON.parse(bytes.toString())
          },
        })
      })
    })
    asked.end(text)
  })
}
