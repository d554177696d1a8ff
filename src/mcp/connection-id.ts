import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'

/** What a legacy connection is made of: with it another daemon can go on with the connection, without a handshake. */
export type ConnectionClaims = z.output<typeof connectionClaims>

const connectionClaims = z.strictObject({
  /** Of this connection: two of the same client in the same folder are not the same reader. */
  reader: z.string(),
  since: z.number(),
  clientInfo: z.strictObject({ name: z.string(), version: z.string() }),
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  folder: z.string().nullable(),
})

const MAX_TEXT_CHARS = 200
const MAX_CAPABILITIES_CHARS = 2_000
/** With the rest of the headers, Node takes 16 KiB. */
const MAX_ID_CHARS = 12_000

/**
 * The ids of legacy connections (`Mcp-Session-Id`): what the connection is made of, and a signature over that and over whose
 * it is. Nobody can make one up or change one, and one that was given to another token is none.
 */
export class ConnectionIds {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  issue(claims: ConnectionClaims, whose: string): string {
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return `${text}.${this.#signature(text, whose).toString('base64url')}`
  }

  /** Null: it was not given out here, or to somebody else. */
  read(id: string, whose: string): ConnectionClaims | null {
    const [text = '', signature = '', ...more] = id.length > MAX_ID_CHARS ? [] : id.split('.')
    const given = Buffer.from(signature, 'base64url')
    const right = this.#signature(text, whose)
    // One text has several spellings in base64.
    const isExact = given.toString('base64url') === signature && more.length === 0
    if (!isExact || given.length !== right.length || !timingSafeEqual(given, right)) return null
    const claims = connectionClaims.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
    return claims.success ? claims.data : null
  }

  #signature(text: string, whose: string): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([text, whose]))
      .digest()
  }
}

/** Of a handshake, cut to what fits into a header. */
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
