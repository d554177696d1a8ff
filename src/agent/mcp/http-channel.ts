import type {
  AuthProvider,
  FetchLike,
  OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { messageOf } from '../../base/error-text.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { McpHttpSpec, SecretOrText } from '../../core/process/spec.ts'
import type { Incoming } from '../kept-rpc/incoming.ts'
import { type RpcId, rpcMessages } from '../kept-rpc/rpc-message.ts'
import { boundedBody } from './bounded-body.ts'
import type { Channel, SendOptions } from './channel.ts'
import { McpFailure } from './mcp-failure.ts'
import type { Negotiated } from './protocol.ts'

type Sdk = typeof import('@modelcontextprotocol/client')

export interface HttpChannelOptions {
  readonly name: string
  readonly spec: McpHttpSpec
  /** The values of headers and of secrets. */
  readonly secrets: (values: Readonly<Record<string, SecretOrText>>) => Readonly<Record<string, string>>
}

/** Loads the SDK, which is large, when the first such server is used. */
export async function openHttpChannel(options: HttpChannelOptions): Promise<HttpChannel> {
  const sdk = await import('@modelcontextprotocol/client')
  const { spec, secrets } = options
  const authProvider = authOf(sdk, spec, secrets)
  const transport = new sdk.StreamableHTTPClientTransport(new URL(spec.url), {
    requestInit: { headers: { ...secrets(spec.headers ?? {}) } },
    fetch: boundedFetch,
    ...(authProvider === undefined ? {} : { authProvider }),
  })
  await transport.start()
  return new HttpChannel(sdk, transport, options.name)
}

const boundedFetch: FetchLike = async (url, init) => boundedBody(await fetch(url, init))

function authOf(
  sdk: Sdk,
  { auth }: McpHttpSpec,
  secrets: HttpChannelOptions['secrets'],
): AuthProvider | OAuthClientProvider | undefined {
  if (auth === undefined) return undefined
  if (auth.type === 'bearer') {
    const { token } = secrets({ token: auth.token })
    return { token: async () => token }
  }
  const { issuer, clientId, clientSecret, scope } = auth
  return new sdk.ClientCredentialsProvider({
    expectedIssuer: issuer,
    clientId,
    clientSecret: secrets({ clientSecret })['clientSecret'] ?? '',
    clientName: 'reeve',
    ...(scope === undefined ? {} : { scope }),
  })
}

/** A server that runs elsewhere. Each request is an exchange of its own. */
export class HttpChannel implements Channel {
  readonly #sdk: Sdk
  readonly #transport: StreamableHTTPClientTransport
  readonly #name: string

  constructor(sdk: Sdk, transport: StreamableHTTPClientTransport, name: string) {
    this.#sdk = sdk
    this.#transport = transport
    this.#name = name
  }

  async send(message: JsonObject, { signal, lost }: SendOptions = {}): Promise<void> {
    const { sessionId } = this.#transport
    try {
      await this.#transport.send(this.#sdk.parseJSONRPCMessage(message), {
        ...(signal === undefined ? {} : { requestSignal: signal }),
        ...(lost === undefined ? {} : { onRequestStreamEnd: () => lost('the stream of the response ended') }),
      })
    } catch (error) {
      if (signal?.aborted === true) return
      throw this.#failureOf(error, sessionId)
    }
  }

  async reply(_: RpcId, message: JsonObject): Promise<void> {
    await this.send(message)
  }

  listen(listener: (incoming: Incoming) => void): void {
    this.#transport.onmessage = (value) => {
      for (const message of rpcMessages(value)) listener({ type: 'message', message })
    }
  }

  negotiated({ era, version }: Negotiated): void {
    if (era === 'legacy') this.#transport.setProtocolVersion(version)
  }

  close(): void {
    // The session on the server expires by itself; an answer to its end would be waited for in vain.
    void this.#transport.close()
  }

  #failureOf(error: unknown, sessionId: string | undefined): McpFailure {
    const sdk = this.#sdk
    const status = error instanceof sdk.SdkHttpError ? error.status : undefined
    const needsLogin = error instanceof sdk.UnauthorizedError || error instanceof sdk.InsufficientScopeError
    if (needsLogin || status === 401 || status === 403)
      return new McpFailure(
        'unauthorized',
        `The MCP server ${this.#name} wants authorization: ${messageOf(error)}. Give it a token, or OAuth client credentials; a login in a browser is not supported.`,
      )
    if (status === 404 && sessionId !== undefined)
      return new McpFailure('expired', `The session with the MCP server ${this.#name} has expired.`)
    if (status !== undefined && status >= 400 && status < 500)
      return new McpFailure('refused', `The MCP server ${this.#name} refused: ${messageOf(error)}`)
    const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : ''
    return new McpFailure(
      'unavailable',
      `The MCP server ${this.#name} cannot be reached: ${messageOf(error)}${cause}`,
    )
  }
}
