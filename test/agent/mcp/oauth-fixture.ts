import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface TokenRequest {
  readonly authorization: string | undefined
  readonly form: Readonly<Record<string, string>>
}

/** An authorization server on this machine that gives tokens to one client by its credentials. */
export class OAuthFixture {
  readonly asked: TokenRequest[] = []
  readonly #tokens = new Set<string>()
  readonly #client: { readonly id: string; readonly secret: string }
  #url = ''

  private constructor(client: { readonly id: string; readonly secret: string }) {
    this.#client = client
  }

  static async listen(client: { readonly id: string; readonly secret: string }): Promise<OAuthFixture> {
    const fixture = new OAuthFixture(client)
    const server = createServer((request, response) => void fixture.#answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    fixture.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return fixture
  }

  get issuer(): string {
    return this.#url
  }

  accepts(authorization: string | null): boolean {
    return authorization !== null && this.#tokens.has(authorization.replace('Bearer ', ''))
  }

  /** Every token that was given is over. */
  revoke(): void {
    this.#tokens.clear()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (request.url === '/.well-known/oauth-authorization-server')
      return send(200, {
        issuer: this.#url,
        authorization_endpoint: `${this.#url}/authorize`,
        token_endpoint: `${this.#url}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      })
    if (request.url !== '/token') return send(404, {})
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(pieces).toString()))
    const { authorization } = request.headers
    this.asked.push({ authorization, form })
    const { id, secret } = this.#client
    if (authorization !== `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`)
      return send(401, { error: 'invalid_client' })
    const token = `token-${this.asked.length}`
    this.#tokens.add(token)
    return send(200, { access_token: token, token_type: 'Bearer', expires_in: 3_600 })
  }
}
