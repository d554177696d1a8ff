import { randomUUID } from 'node:crypto'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type McpServer,
  type Transport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { rootsUnanswered } from './asked-folder.ts'
import { clientNameIn, type Place, real, Sessions, type Told, toldBy, toldName } from './client.ts'
import { type ClientEnvironment, ConnectedSession, type Connection } from './connection.ts'
import { listenedTo } from './listened-to.ts'
import { ResourceWatch } from './resource-watch.ts'
import { mcpServer } from './server.ts'
import type { McpReeve, McpSession } from './session.ts'

export interface McpStdioOptions {
  /** Where the client works, unless it says otherwise itself; the folder that it started this program in. */
  readonly cwd?: string
  /** The session to act in, as a token that is bound to one wants it; `REEVE_SESSION` by default, else one of its own. */
  readonly session?: string
  /** When the client connected, by the daemon's clock; this machine's clock by default. */
  readonly since?: number
  /** Another way to the same daemon, which does not start it: for what goes on by itself while a client is there. */
  readonly quiet?: McpReeve
  /** What the client runs in, which its commands get. */
  readonly environment?: ClientEnvironment
  /** Every answer has structured content beside its text. */
  readonly structured?: boolean
  /** Starts the daemon where somebody has stopped it. */
  readonly startDaemon?: () => Promise<void>
  readonly transport?: Transport
  readonly onTrouble?: (error: Error) => void
}

export interface McpStdio {
  /** Resolves when the client has gone. Nothing that it started ends with it. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

const TOUCH_MS = 30_000

/** Serves one client over standard input and output, in whichever era it speaks. */
export function serveMcpStdio(reeve: McpReeve, options: McpStdioOptions = {}): McpStdio {
  const cwd = real(options.cwd ?? process.cwd())
  const transport = options.transport ?? new StdioServerTransport()
  const sessions = new Sessions(reeve, options.quiet)
  const session = options.session ?? (process.env['REEVE_SESSION'] || undefined)
  const connection: Connection = {
    reader: { id: randomUUID(), since: options.since ?? Date.now() },
    environment: options.environment ?? null,
  }
  const { structured = false, startDaemon } = options
  const starting = startDaemon === undefined ? {} : { startDaemon }
  let placed: Promise<Place> | undefined
  // The first word counts: one connection is one client in one folder.
  const place = (told: Told) => {
    placed ??= placeOf(sessions, told, cwd, session)
      .then(({ session: shared, folder }) => ({ session: new ConnectedSession(shared, connection), folder }))
      .catch((error: unknown) => {
        // The client may answer the next time it is asked for its roots.
        placed = undefined
        throw error
      })
    return placed
  }
  let serving: McpServer | undefined
  const served = serveStdio(
    ({ era }) => {
      const server = mcpServer({ era, readOnly: false, structured, place, ...starting })
      // What goes wrong here is answered to the first call, which asks again.
      server.server.oninitialized = () => void place(toldBy(server)).then(touch, () => {})
      serving = server
      return server
    },
    { transport, ...(options.onTrouble === undefined ? {} : { onerror: options.onTrouble }) },
  )

  // While the connection lasts its session counts as in use, whether anything is asked of it or not.
  const touch = async () => {
    const here = await placed?.catch(() => undefined)
    await here?.session.touch()
  }
  const touching = setInterval(() => void touch(), TOUCH_MS).unref()

  const watch = new ResourceWatch(
    async () => {
      const { session } = await place(toldName('unknown'))
      return { acting: await session.watching(), session: session.id }
    },
    (uri) => void serving?.server.sendResourceUpdated({ uri }).catch(() => {}),
  )
  watchListeners(transport, watch, (clientName) => void place(toldName(clientName)).catch(() => {}))

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

async function placeOf(
  sessions: Sessions,
  told: Told,
  cwd: string,
  named: string | undefined,
): Promise<{ readonly session: McpSession; readonly folder: string }> {
  const root = await told.root()
  if (root === undefined) throw rootsUnanswered()
  const folder = root ?? cwd
  if (named !== undefined) return { session: sessions.named(named), folder }
  return { session: sessions.derived(told.clientName, folder, folder), folder }
}

/** The SDK answers who listens in the modern era, and hands on what they asked for; what must be watched is read off here. */
function watchListeners(
  transport: Transport,
  watch: ResourceWatch,
  hello: (clientName: string) => void,
): void {
  const listening = new Map<string | number, readonly string[]>()
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    const uris = isJSONRPCRequest(message) ? listenedTo(message) : []
    if (isJSONRPCRequest(message) && uris.length > 0) {
      const clientName = clientNameIn(message.params?._meta)
      if (clientName !== undefined) hello(clientName)
      listening.set(message.id, uris)
      // It is acknowledged when it is watched: whatever changes after that is told.
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
