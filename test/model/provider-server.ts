import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body as it came over the wire. */
  readonly body: string
}

export interface ProviderServer {
  /** Without a path. */
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
}

/** A server on loopback that answers as the test says; closed when the test is over. */
export async function providerServer(
  answer: (response: ServerResponse, request: ReceivedRequest, index: number) => void,
): Promise<ProviderServer> {
  const requests: ReceivedRequest[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const request = { path: incoming.url ?? '', headers: incoming.headers, body }
      requests.push(request)
      answer(response, request, requests.length - 1)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests }
}
