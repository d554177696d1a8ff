import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'

/** The content of a legacy connection id. Another daemon can restore the connection from it without a handshake. */
export type ConnectionClaims = z.output<typeof connectionClaims>

const connectionClaims = z.strictObject({
  /** Identifies this connection: two of the same client in the same folder are different readers. */
  reader: z.string(),
  since: z.number(),
  clientInfo: z.strictObject({ name: z.string(), version: z.string() }),
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  folder: z.string().nullable(),
})

const MAX_TEXT_CHARS = 200
const MAX_CAPABILITIES_CHARS = 2_000
/** Node accepts 16 KiB for all headers together. */
const MAX_ID_CHARS = 12_000

/**
 * The ids of legacy connections (`Mcp-Session-Id`): the claims of the connection, and a signature over the claims and the
 * caller. An id cannot be forged or changed, and an id that was issued to another token is invalid.
 */
export class ConnectionIds {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  issue(claims: ConnectionClaims, caller: string): string {
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return `${text}.${this.#signature(text, caller).toString('base64url')}`
  }

  /** Null: the id was not issued here, or was issued to another caller. */
  read(id: string, caller: string): ConnectionClaims | null {
    const [text = '', signature = '', ...more] = id.length > MAX_ID_CHARS ? [] : id.split('.')
    const given = Buffer.from(signature, 'base64url')
    const right = this.#signature(text, caller)
    // Base64 has several spellings of one text.
    const isExact = given.toString('base64url') === signature && more.length === 0
    if (!isExact || given.length !== right.length || !timingSafeEqual(given, right)) return null
    const claims = connectionClaims.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
    return claims.success ? claims.data : null
  }

  #signature(text: string, caller: string): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([text, caller]))
      .digest()
  }
}

/** The claims of a handshake, cut to fit into a header. */
export function claimsOf(
  { clientInfo, protocolVersion, capabilities }: Handshake,
  folder: string | null,
): ConnectionClaims {
  const { roots } = capabilities
  const isLong = JSON.stringify(capabilities).length > MAX_CAPABILITIES_CHARS
  return {
    reader: randomUUID(),
    since: Date.now(),
    clientInfo: {
      name: clientInfo.name.slice(0, MAX_TEXT_CHARS),
      version: clientInfo.version.slice(0, MAX_TEXT_CHARS),
    },
    protocolVersion: protocolVersion.slice(0, MAX_TEXT_CHARS),
    capabilities: isLong ? (roots === undefined ? {} : { roots: {} }) : capabilities,
    folder,
  }
}

interface Handshake {
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly protocolVersion: string
  readonly capabilities: Record<string, unknown>
}
