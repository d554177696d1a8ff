import { randomUUID } from 'node:crypto'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type McpServer,
  type Transport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { answersThrough, ELICITED } from './approvals/person-here.ts'
import {
  type ClientIdentity,
  clientNameIn,
  identityNamed,
  identityOf,
  realFolder,
  Sessions,
  type Workspace,
} from './client.ts'
import { type ClientEnvironment, ConnectedSession, type Connection } from './connection.ts'
import { feedOf } from './feed-watch.ts'
import { listenedUris } from './listened-uris.ts'
import { rootsUnanswered } from './requested-folder.ts'
import { accessOf, ResourceWatch } from './resource-watch.ts'
import { mcpServer } from './server.ts'
import type { McpReeve, McpSession } from './session.ts'

export interface McpStdioOptions {
  /** The client's folder, unless it names one itself; the working directory of this program by default. */
  readonly cwd?: string
  /** The session to act in; `REEVE_SESSION` by default, else a session of the client's own. */
  readonly session?: string
  /** The agent that the client is, whose session it acts in; `REEVE_PARENT` by default. */
  readonly parent?: string
  /** The preset that its session begins with. */
  readonly preset?: string
  /** When the client connected, by the daemon's clock; this machine's clock by default. */
  readonly since?: number
  /** A second connection to the same daemon that never starts it, for background work. */
  readonly quiet?: McpReeve
  /** The client's environment, which its commands inherit. */
  readonly environment?: ClientEnvironment
  /** Every answer has structured content beside its text. */
  readonly structured?: boolean
  /** The client may only read. */
  readonly readOnly?: boolean
  /** The person whose operator token this connection has: the client reads and answers that person's queue. */
  readonly operator?: `human:${string}`
  /** Starts a stopped daemon. */
  readonly startDaemon?: () => Promise<void>
  readonly transport?: Transport
  readonly onTrouble?: (error: Error) => void
}

export interface McpStdio {
  /** Resolves when the client has disconnected. Its processes go on. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

const TOUCH_MS = 30_000

/** Serves one client over standard input and output, in the era that it speaks. */
export function serveMcpStdio(reeve: McpReeve, options: McpStdioOptions = {}): McpStdio {
  const cwd = realFolder(options.cwd ?? process.cwd())
  const transport = options.transport ?? new StdioServerTransport()
  const sessions = new Sessions(reeve, options.quiet, options.preset)
  const session = options.session ?? (process.env['REEVE_SESSION'] || undefined)
  const parent = options.parent ?? (process.env['REEVE_PARENT'] || undefined)
  const connection: Connection = {
    reader: { id: randomUUID(), since: options.since ?? Date.now() },
    environment: options.environment ?? null,
  }
  const { structured = false, readOnly = false, startDaemon, operator } = options
  const starting = startDaemon === undefined ? {} : { startDaemon }
  const operatorOver = (name: `human:${string}`) => {
    const quiet = options.quiet ?? reeve
    const answering = (own: readonly string[]) =>
      answersThrough(reeve, name, { sessions: own, elicited: false })
    return { name, acting: reeve, answering, feed: feedOf(quiet, quiet) }
  }
  const operating = operator === undefined ? {} : { operator: operatorOver(operator) }
  let located: Promise<Workspace> | undefined
  // The first request decides: one connection is one client in one folder.
  const workspace = (identity: ClientIdentity) => {
    located ??= workspaceOf(sessions, identity, cwd, session)
      .then(({ session: shared, folder }) => ({
        session: new ConnectedSession(shared, connection),
        folder,
        ...(parent === undefined ? {} : { parent }),
      }))
      .catch((error: unknown) => {
        // The client may answer the next request for its roots.
        located = undefined
        throw error
      })
    return located
  }
  // A token that is bound to a session answers nothing by itself, over this connection as over any other.
  const person = async () => {
    const { actor, person: name, approver: sitsHere } = await reeve.whoami()
    if (!sitsHere || name === null || actor !== 'host') return null
    return { name, answering: answersThrough(reeve, name, ELICITED) }
  }
  let serving: McpServer | undefined
  const served = serveStdio(
    ({ era }) => {
      const server = mcpServer({
        era,
        readOnly,
        structured,
        workspace,
        person,
        ...operating,
        ...starting,
      })
      // A failure here is reported by the first call, which tries again.
      server.server.oninitialized = () => void workspace(identityOf(server)).then(touch, () => {})
      serving = server
      return server
    },
    { transport, ...(options.onTrouble === undefined ? {} : { onerror: options.onTrouble }) },
  )

  // The session stays alive while the connection lasts, even without requests.
  const touch = async () => {
    const here = await located?.catch(() => undefined)
    await here?.session.touch()
  }
  const touching = setInterval(() => void touch(), TOUCH_MS).unref()

  const watch = new ResourceWatch(
    async () => {
      const { session } = await workspace(identityNamed('unknown'))
      return accessOf(session)
    },
    (uri) => void serving?.server.sendResourceUpdated({ uri }).catch(() => {}),
    operating.operator,
  )
  watchListeners(transport, watch, (clientName) => void workspace(identityNamed(clientName)).catch(() => {}))

  const closed = new Promise<void>((resolve) => {
    const { onclose } = transport
    transport.onclose = () => {
      clearInterval(touching)
      watch.close()
      onclose?.()
      resolve()
    }
  })
  return { closed, close: () => served.close() }
}

async function workspaceOf(
  sessions: Sessions,
  identity: ClientIdentity,
  cwd: string,
  named: string | undefined,
): Promise<{ readonly session: McpSession; readonly folder: string }> {
  const root = await identity.root()
  if (root === undefined) throw rootsUnanswered()
  const folder = root ?? cwd
  if (named !== undefined) return { session: sessions.named(named, folder), folder }
  return { session: sessions.derived(identity.clientName, folder, folder), folder }
}

/** The SDK answers `subscriptions/listen` itself. This reads the requested URIs from the messages, and watches them. */
function watchListeners(
  transport: Transport,
  watch: ResourceWatch,
  hello: (clientName: string) => void,
): void {
  const listening = new Map<string | number, readonly string[]>()
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    const uris = isJSONRPCRequest(message) ? listenedUris(message) : []
    if (isJSONRPCRequest(message) && uris.length > 0) {
      const clientName = clientNameIn(message.params?._meta)
      if (clientName !== undefined) hello(clientName)
      listening.set(message.id, uris)
      // Acknowledged once watched, so that no change after the acknowledgement is missed.
      void Promise.all(uris.map((uri) => watch.add(uri))).then(() => {
        if (listening.has(message.id)) onmessage?.(message, extra)
      })
      return
    }
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const id = message.params?.['requestId'] as string | number
      for (const uri of listening.get(id) ?? []) watch.delete(uri)
      listening.delete(id)
    }
    onmessage?.(message, extra)
  }
}
