import { realpathSync } from 'node:fs'
import { CLIENT_INFO_META_KEY, type McpServer, type ServerContext } from '@modelcontextprotocol/server'
import type { Operator } from './approvals/operator.ts'
import type { PersonHere } from './approvals/person-here.ts'
import { rootByRequest, rootInAnswer } from './roots.ts'
import { type ClientSession, type McpReeve, McpSession } from './session.ts'
import { baseOf, MCP_SESSION, sessionIdOf } from './session-id.ts'

/** The client behind a connection, or behind one HTTP request. */
export interface McpClient {
  readonly era: 'legacy' | 'modern'
  /** May only read. */
  readonly readOnly: boolean
  /** The person who sits at this client and may be asked there for approvals; null if there is none. */
  person?(): Promise<PersonHere | null>
  /** The person whose queue this client reads and answers. Never set for an agent. */
  readonly operator?: Operator
  /** Whether requests reach the client between its calls; absent where they always do. */
  isListening?(): boolean
  /** Every answer has structured content beside its text. */
  readonly structured?: boolean
  /** Starts a stopped daemon; absent where the server is part of the daemon. */
  startDaemon?(): Promise<void>
  workspace(identity: ClientIdentity): Promise<Workspace>
}

/** The client's own claims about its identity. */
export interface ClientIdentity {
  readonly clientName: string
  /** Asks the client for its workspace folder. Null: it has none. Undefined: it declares roots and did not answer. */
  root(): Promise<string | null | undefined>
  /** The folder from the client's answer, in the modern era; throws the question if it has not been asked yet. */
  rootInAnswer(): string | null
}

/** The session that a client acts in, and its folder where that is known. */
export interface Workspace {
  readonly session: ClientSession
  readonly folder: string | null
  /** The agent that the client is: its commands are below it in the tree. */
  readonly parent?: string
}

const MAX_SESSIONS = 1_000
/** Of a session that is known already. */
const NOT_READ = { label: '', folder: null }
const LABEL_PAGE = 1_000

/** One object per session, shared by all its connections, so that each learns of the session's state once. */
export class Sessions {
  readonly #connections: { readonly reeve: McpReeve; readonly quiet: McpReeve }
  readonly #begin: { readonly preset?: string }
  readonly #known = new Map<string, McpSession>()

  /** `preset`: given to every session that begins here. */
  constructor(reeve: McpReeve, quiet = reeve, preset?: string) {
    this.#connections = { reeve, quiet }
    this.#begin = preset === undefined ? {} : { preset }
  }

  /** The session that a token names. `folder`: that of the client that opens it. */
  named(session: string, folder: string | null = null): McpSession {
    return this.#keep(
      `named ${session}`,
      () =>
        new McpSession(this.#connections, session, { label: 'MCP', derived: false, folder, ...this.#begin }),
    )
  }

  /** The session of a client, derived from its name and its `distinction`, mostly its folder. */
  derived(clientName: string, distinction: string, folder: string | null): McpSession {
    const id = sessionIdOf(clientName, distinction)
    const where = folder === null ? '' : ` in ${folder}`
    const label = `${clientName}${where}`.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200)
    return this.#keep(
      `derived ${id}`,
      () => new McpSession(this.#connections, id, { label, derived: true, folder, ...this.#begin }),
    )
  }

  /** The MCP session that owns a process; null if its owner is none. */
  async ownerOf(pid: string): Promise<McpSession | null> {
    const { owner } = await this.#connections.reeve.show({ pid })
    if (owner.session?.startsWith(MCP_SESSION) !== true) return null
    const id = baseOf(owner.session)
    const key = `derived ${id}`
    const { label, folder } = this.#known.has(key) ? NOT_READ : await this.#stored(owner.session)
    return this.#keep(
      key,
      () => new McpSession(this.#connections, id, { label, derived: true, folder, ...this.#begin }),
    )
  }

  /** The stored label and folder; the client's next session is opened with the same ones. */
  async #stored(session: string): Promise<{ readonly label: string; readonly folder: string | null }> {
    // A list starts after an id. A prefix of the id sorts before it.
    const { sessions } = await this.#connections.reeve.sessions({
      after: session.slice(0, -1),
      limit: LABEL_PAGE,
    })
    const found = sessions.find(({ id }) => id === session)
    return { label: found?.label ?? 'MCP', folder: found?.workspaces?.[0] ?? null }
  }

  /** Named and derived sessions never share an object: a derived one moves on to the next generation, a named one must not. */
  #keep(key: string, make: () => McpSession): McpSession {
    const session = this.#known.get(key) ?? make()
    // Evicts the least recently used; finding it again costs one request.
    this.#known.delete(key)
    this.#known.set(key, session)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_SESSIONS) break
      this.#known.delete(oldest)
    }
    return session
  }
}

export function identityOf(server: McpServer, ctx?: ServerContext): ClientIdentity {
  const inEnvelope = clientNameIn(ctx?.mcpReq.envelope)
  return {
    clientName: inEnvelope ?? nameOr(server.server.getClientVersion()?.name) ?? 'unknown',
    async root() {
      const root = await rootByRequest(server, ctx)
      return typeof root === 'string' ? realFolder(root) : root
    },
    rootInAnswer() {
      const root = ctx === undefined ? null : rootInAnswer(ctx)
      return root === null ? null : realFolder(root)
    },
  }
}

/** The identity of a client with a name and no folder. */
export function identityNamed(clientName: string): ClientIdentity {
  return { clientName, root: async () => null, rootInAnswer: () => null }
}

/** In the modern era every request names its client. */
export function clientNameIn(envelope: unknown): string | undefined {
  if (typeof envelope !== 'object' || envelope === null) return undefined
  const info: unknown = Object.entries(envelope).find(([key]) => key === CLIENT_INFO_META_KEY)?.[1]
  return typeof info === 'object' && info !== null && 'name' in info ? nameOr(info.name) : undefined
}

function nameOr(name: unknown): string | undefined {
  return typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 200) : undefined
}

/** Resolves symbolic links, so that one folder has one name. */
export function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
