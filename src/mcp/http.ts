import { randomBytes } from 'node:crypto'
import { createMcpHandler, isLegacyRequest, type McpServer } from '@modelcontextprotocol/server'
import { ReeveError } from '../core/errors.ts'
import { clientNameIn, identityNamed, type McpClient, Sessions } from './client.ts'
import { type ConnectionClaims, ConnectionIds } from './connection-id.ts'
import { httpClient, type McpCaller } from './http-client.ts'
import { LegacyConnections } from './legacy-connections.ts'
import { listenedUris } from './listened-uris.ts'
import { OpenStreams } from './open-streams.ts'
import { subjectOf } from './request-subject.ts'
import { requestedFolder, subscriptionFolderUnknown } from './requested-folder.ts'
import { approvalsUri } from './resource-uris.ts'
import { accessOf, ResourceWatch } from './resource-watch.ts'
import { mcpServer } from './server.ts'
import type { McpReeve } from './session.ts'
import { whenResponseEnds } from './when-response-ends.ts'

export type { McpCaller } from './http-client.ts'

export interface McpHttpOptions {
  /** Makes the server of a connection or a request; Reeve's own by default. */
  readonly build?: (client: McpClient) => McpServer
  /** A legacy connection without a request or an open stream for this long is evicted. */
  readonly idleMs?: number
  /** Signs the ids of legacy connections. A handler with the same key can restore them. */
  readonly key?: Buffer
  readonly onTrouble?: (error: Error) => void
}

export interface McpHttp {
  fetch(request: Request, caller: McpCaller): Promise<Response>
  close(): Promise<void>
}

const IDLE_MS = 30 * 60_000
/** The JSON-RPC error code. */
const INVALID_PARAMS = -32_602

/**
 * Serves MCP over Streamable HTTP. Legacy clients have connections with a transport session id; modern clients send
 * independent requests. The mounting server checks tokens, Host and Origin.
 */
export function mcpHttpHandler(reeve: McpReeve, options: McpHttpOptions = {}): McpHttp {
  const { build = mcpServer, idleMs = IDLE_MS, key = randomBytes(32), onTrouble = () => {} } = options
  const sessions = new Sessions(reeve)
  const observed = new Sessions(observerOf(reeve))
  const sessionsFor = ({ role }: McpCaller) => (role === 'read' ? observed : sessions)
  const openStreams = new OpenStreams()
  const open = new Set<() => Promise<void>>()
  const connect = (caller: McpCaller, { reader, since, folder }: ConnectionClaims) => {
    const client = httpClient({ reeve, sessions: sessionsFor(caller) }, caller, {
      folder,
      reader: { id: reader, since },
      subject: {},
    })
    return { server: build(client), client }
  }
  const connections = new LegacyConnections(connect, new ConnectionIds(key), openStreams, idleMs)

  /** One handler per request, so that a notification for one caller never reaches another. */
  const modern = async (request: Request, caller: McpCaller, message: unknown) => {
    const origin = { folder: requestedFolder(request), reader: null, subject: subjectOf(message) }
    const client = httpClient({ reeve, sessions: sessionsFor(caller) }, caller, origin)
    const handler = createMcpHandler(() => build(client), { legacy: 'reject', onerror: onTrouble })
    let watch: ResourceWatch | undefined
    try {
      watch = await watchOf(client, message, (uri) => handler.notify.resourceUpdated(uri))
    } catch (error) {
      await handler.close()
      if (error instanceof ReeveError) return refusedInJsonRpc(error, message)
      throw error
    }
    const leave = openStreams.track(client.located)
    const close = () => handler.close()
    open.add(close)
    const over = () => {
      open.delete(close)
      leave()
      watch?.close()
    }
    const parsed = message === undefined ? {} : { parsedBody: message }
    try {
      return whenResponseEnds(await handler.fetch(request, parsed), over)
    } catch (error) {
      over()
      throw error
    }
  }
  return {
    async fetch(request, caller) {
      const message = await bodyOf(request)
      return (await isLegacyRequest(request, message))
        ? connections.fetch(request, caller, message)
        : modern(request, caller, message)
    },
    async close() {
      openStreams.close()
      await Promise.all([connections.close(), ...[...open].map((close) => close())])
    },
  }
}

/** The role `read` has no effects: it touches no session and marks no notice as delivered. */
function observerOf(reeve: McpReeve): McpReeve {
  return { ...reeve, as: (actor) => reeve.observing?.(actor) ?? reeve.as(actor) }
}

/** The JSON body, if it is JSON. The request itself stays readable, for the handler that reports its errors. */
async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined
  try {
    return await request.clone().json()
  } catch {
    return undefined
  }
}

/** Answers a request that opens a stream: clients read no other format there. */
function refusedInJsonRpc({ code, message: text, remedy }: ReeveError, message: unknown): Response {
  const { id = null } = Object(message) as { id?: unknown }
  const error = { code: INVALID_PARAMS, message: `${text} ${remedy}`, data: { code } }
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 })
}

/** Watches the resources that the request listens to, for as long as its stream is open. */
async function watchOf(
  client: McpClient,
  message: unknown,
  tell: (uri: string) => void,
): Promise<ResourceWatch | undefined> {
  const uris = listenedUris(message)
  if (uris.length === 0) return undefined
  const clientName = clientNameIn(Object(Object(message).params)._meta) ?? 'unknown'
  const sessionOf = async () => {
    const { session } = await client.workspace(identityNamed(clientName)).catch((error: unknown) => {
      throw error instanceof ReeveError && error.code === 'folder_unknown'
        ? subscriptionFolderUnknown()
        : error
    })
    return session
  }
  // The queue of an operator belongs to no session.
  if (uris.some((uri) => uri !== approvalsUri)) await sessionOf()
  const watch = new ResourceWatch(async () => accessOf(await sessionOf()), tell, client.operator)
  for (const uri of uris) await watch.add(uri)
  return watch
}
