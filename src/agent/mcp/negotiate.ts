import { type JsonObject, objectOf } from '../../core/json/json.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { type LogReader, messagesOf } from '../kept-rpc/kept-messages.ts'
import type { Connection, ConnectionEvents } from './connection.ts'
import { McpFailure } from './mcp-failure.ts'
import { initializeParams, LEGACY_VERSION, MODERN_VERSION, type Negotiated, paramsIn } from './protocol.ts'

const DISCOVER = 'reeve:discover'
const INITIALIZE = 'reeve:initialize'
/** The numbers of these writes, so that a kernel that takes a server over repeats none. Those of calls are higher. */
const SEQ = { discover: 1, initialize: 2, initialized: 3, listen: 4 } as const
/** A server that has not answered the first question is asked in the words of the older revision, too. */
const DISCOVER_MS = 5_000

/**
 * Finds out which revision a server speaks. The first question is that of the newer one; older servers refuse it, ignore it, or
 * end. `legacy`: the last incarnation has ended at that question.
 */
export async function negotiate(
  connection: Connection,
  { legacy, signal }: { readonly legacy: boolean; readonly signal: AbortSignal },
): Promise<Negotiated> {
  if (legacy) return initialize(connection, signal)
  const params = paramsIn('modern', {})
  const discovered = connection
    .request(DISCOVER, 'server/discover', params, { seq: SEQ.discover, signal })
    .then(modernIn)
    .catch((error: unknown) => {
      if (error instanceof McpFailure && error.code === 'refused') return null
      throw error
    })
  const first = await Promise.race([discovered, later(DISCOVER_MS, signal)])
  if (first !== undefined && first !== null) return first
  const initialized = initialize(connection, signal)
  // The server is asked twice if it was slow; whichever answer is a result says which revision it speaks.
  return Promise.any([initialized, discovered.then((found) => found ?? initialized)]).catch(() => initialized)
}

async function initialize(connection: Connection, signal: AbortSignal): Promise<Negotiated> {
  const params = initializeParams()
  const result = await connection.request(INITIALIZE, 'initialize', params, { seq: SEQ.initialize, signal })
  return legacyIn(result)
}

function modernIn(result: JsonObject): Negotiated | null {
  const { supportedVersions, capabilities } = result
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return null
  return { era: 'modern', version: MODERN_VERSION, capabilities: objectOf(capabilities) }
}

function legacyIn({ protocolVersion, capabilities }: JsonObject): Negotiated {
  const version = typeof protocolVersion === 'string' ? protocolVersion : LEGACY_VERSION
  return { era: 'legacy', version, capabilities: objectOf(capabilities) }
}

function later(ms: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined)
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  })
}

/** The handshake is at the beginning of the output, which is kept. */
const HEAD_BYTES = 1024 * 1024

/** The result of the handshake with an earlier kernel, from the beginning of a server's output; null before the handshake. */
export async function negotiatedBefore(
  verbs: LogReader & Pick<ReeveVerbs, 'output'>,
  pid: string,
): Promise<Negotiated | null> {
  const head = await verbs.output({ pid, offset: 0, limit: HEAD_BYTES })
  for (const { message } of await messagesOf(verbs, pid, head)) {
    if (message.type !== 'result') continue
    const found = message.id === DISCOVER ? modernIn(message.result) : null
    if (found !== null) return found
    if (message.id === INITIALIZE) return legacyIn(message.result)
  }
  return null
}

/** The server has been told that the handshake is over. */
export async function completeHandshake(connection: Connection, { era }: Negotiated): Promise<void> {
  if (era === 'legacy') await connection.notify('notifications/initialized', {}, SEQ.initialized)
}

const LISTEN = 'reeve:listen'

/** In the newer revision a server notifies subscribed clients of changes, in the older one all clients. */
export function listen(
  connection: Connection,
  { era, capabilities }: Negotiated,
  events: Pick<ConnectionEvents, 'notified'>,
): void {
  if (era === 'legacy' || objectOf(capabilities['tools'])['listChanged'] !== true) return
  const params = paramsIn(era, { notifications: { toolsListChanged: true } })
  connection.request(LISTEN, 'subscriptions/listen', params, { seq: SEQ.listen }).then(
    () => events.notified(LIST_CHANGED),
    // A server without notifications is not asked again while it lives.
    () => undefined,
  )
}

export const LIST_CHANGED = 'notifications/tools/list_changed'
