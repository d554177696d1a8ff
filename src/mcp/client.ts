import { realpathSync } from 'node:fs'
import { CLIENT_INFO_META_KEY, type McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { rootByRequest, rootInAnswer } from './roots.ts'
import { type ClientSession, type McpReeve, McpSession } from './session.ts'
import { baseOf, MCP_SESSION, sessionIdOf } from './session-id.ts'

/** Who is on the other side of a connection, or of one HTTP request. */
export interface McpClient {
  readonly era: 'legacy' | 'modern'
  /** May do no more than look. */
  readonly readOnly: boolean
  /** Every answer has structured content beside its text. */
  readonly structured?: boolean
  /** Starts the daemon where somebody has stopped it; absent where the server is part of the daemon. */
  startDaemon?(): Promise<void>
  place(told: Told): Promise<Place>
}

/** What a client tells of itself. */
export interface Told {
  readonly clientName: string
  /** Its workspace folder, asked for by a request to it; only if it matters. Undefined: it has roots, and did not answer. */
  root(): Promise<string | null | undefined>
  /** The same in the modern era, as it has answered; throws what it must be asked first. */
  rootInAnswer(): string | null
}

/** The session it acts in, and the folder it works in, where that is known. */
export interface Place {
  readonly session: ClientSession
  readonly folder: string | null
}

const MAX_SESSIONS = 1_000
const LABEL_PAGE = 1_000

/** One object for each session, however many connections it has: what was found out about it stays known. */
export class Sessions {
  readonly #ways: { readonly reeve: McpReeve; readonly quiet: McpReeve }
  readonly #known = new Map<string, McpSession>()

  constructor(reeve: McpReeve, quiet = reeve) {
    this.#ways = { reeve, quiet }
  }

  /** The session that a token names. */
  named(session: string): McpSession {
    return this.#keep(
      `named ${session}`,
      () => new McpSession(this.#ways, session, { label: 'MCP', derived: false }),
    )
  }

  /** The session of a client in a place. */
  derived(clientName: string, place: string, folder: string | null): McpSession {
    const id = sessionIdOf(clientName, place)
    const where = folder === null ? '' : ` in ${folder}`
    const label = `${clientName}${where}`.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200)
    return this.#keep(`derived ${id}`, () => new McpSession(this.#ways, id, { label, derived: true }))
  }

  /** The session of an MCP client that a process is in; null if it is in none. */
  async ownerOf(pid: string): Promise<McpSession | null> {
    const { owner } = await this.#ways.reeve.show({ pid })
    if (owner.session?.startsWith(MCP_SESSION) !== true) return null
    const id = baseOf(owner.session)
    const key = `derived ${id}`
    const label = this.#known.has(key) ? '' : await this.#labelOf(owner.session)
    return this.#keep(key, () => new McpSession(this.#ways, id, { label, derived: true }))
  }

  /** As it is stored: the next session of the same client is opened with it. */
  async #labelOf(session: string): Promise<string> {
    // Lists begin behind an id, and the first part of an id comes before it.
    const { sessions } = await this.#ways.reeve.sessions({ after: session.slice(0, -1), limit: LABEL_PAGE })
    return sessions.find(({ id }) => id === session)?.label ?? 'MCP'
  }

  /** What a token names and what is derived are never the same: the one moves on to a next session, the other may not. */
  #keep(key: string, make: () => McpSession): McpSession {
    const session = this.#known.get(key) ?? make()
    // The oldest is forgotten first; it costs a question to know it again.
    this.#known.delete(key)
    this.#known.set(key, session)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_SESSIONS) break
      this.#known.delete(oldest)
    }
    return session
  }
}

export function toldBy(server: McpServer, ctx?: ServerContext): Told {
  const inEnvelope = clientNameIn(ctx?.mcpReq.envelope)
  return {
    clientName: inEnvelope ?? nameOr(server.server.getClientVersion()?.name) ?? 'unknown',
    async root() {
      const root = await rootByRequest(server, ctx)
      return typeof root === 'string' ? real(root) : root
    },
    rootInAnswer() {
      const root = ctx === undefined ? null : rootInAnswer(ctx)
      return root === null ? null : real(root)
    },
  }
}

/** Of a client of which no more is known than how it calls itself. */
export function toldName(clientName: string): Told {
  return { clientName, root: async () => null, rootInAnswer: () => null }
}

/** In the modern era every request says who sends it. */
export function clientNameIn(envelope: unknown): string | undefined {
  if (typeof envelope !== 'object' || envelope === null) return undefined
  const info: unknown = Object.entries(envelope).find(([key]) => key === CLIENT_INFO_META_KEY)?.[1]
  return typeof info === 'object' && info !== null && 'name' in info ? nameOr(info.name) : undefined
}

function nameOr(name: unknown): string | undefined {
  return typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 200) : undefined
}

/** One folder has one name, whichever way a client came to it. */
export function real(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
