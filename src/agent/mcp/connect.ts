import { messageOf } from '../../base/error-text.ts'
import { isQuestion } from '../../core/approval/question.ts'
import { ReeveError } from '../../core/errors.ts'
import type { McpCommandSpec, McpHttpSpec } from '../../core/process/spec.ts'
import { Connection, type ConnectionEvents } from './connection.ts'
import { openHttpChannel } from './http-channel.ts'
import { KeptChannel } from './kept-channel.ts'
import { keptServer } from './kept-server.ts'
import { KeptWrites } from './kept-writes.ts'
import { McpFailure } from './mcp-failure.ts'
import { completeHandshake, listen, negotiate, negotiatedBefore } from './negotiate.ts'
import type { Negotiated } from './protocol.ts'
import type { ServerParts } from './server-session.ts'

export interface Connected {
  readonly connection: Connection
  readonly negotiated: Negotiated
  /** Of a server that a keeper holds. */
  readonly kept?: KeptChannel
}

type Opening<Spec> = Omit<ServerParts, 'spec'> & {
  readonly spec: Spec
  readonly events: ConnectionEvents
  readonly signal: AbortSignal
}

/** Of a server that ended: at the first question, as some older servers do, or by itself. */
type Gone = { readonly isAtQuestion: boolean; readonly why: string }

const MAX_ATTEMPTS = 3
/** How long the end of a server that takes no input may take to be on record. */
const END_MS = 10_000

/** Starts a server as a command, or goes on with the one that an earlier kernel started. */
export async function connectKept(opening: Opening<McpCommandSpec>): Promise<Connected> {
  let isAtQuestion = false
  let why = ''
  for (let count = 0; count < MAX_ATTEMPTS; count++) {
    const connected = await attempt(opening, isAtQuestion)
    if ('connection' in connected) return connected
    isAtQuestion = connected.isAtQuestion
    why = connected.why
  }
  throw new McpFailure('unavailable', `The MCP server ${opening.name} is gone: ${why}.`)
}

async function attempt(opening: Opening<McpCommandSpec>, legacy: boolean): Promise<Connected | Gone> {
  const { name, verbs, events, signal } = opening
  const { record, isNew } = await keptServer(opening)
  const { pid } = record
  const begun = await verbs.waitFor({ pid, types: ['program_started'] }, { signal })
  signal.throwIfAborted()
  if (begun.type !== 'heard' || begun.event === null) {
    const { outcome } = await verbs.show({ pid })
    const reason = outcome?.reason ?? 'no reason'
    throw new McpFailure('unavailable', `The MCP server ${name} could not be started: ${reason}.`)
  }
  const before = isNew ? null : await negotiatedBefore(verbs, pid)
  const { pid: agent } = opening.agent
  const kept = new KeptChannel(verbs, pid, {
    offset: before === null ? 0 : await firstOffset(opening, pid),
    writes: isNew ? KeptWrites.toNew(verbs, agent, pid) : await KeptWrites.toAdopted(verbs, agent, pid),
  })
  // An end during the handshake is told by the answer of this function.
  let isSettled = false
  const connection = new Connection(pid, name, kept, {
    ...events,
    ended: (why) => {
      if (isSettled) events.ended(why)
    },
  })
  try {
    const negotiated = before ?? (await negotiate(connection, { legacy, signal }))
    await completeHandshake(connection, negotiated)
    listen(connection, negotiated, events)
    isSettled = true
    if (connection.ended !== undefined) events.ended(connection.ended)
    return { connection, negotiated, kept }
  } catch (error) {
    const why = connection.ended ?? messageOf(error)
    connection.close()
    const isGone =
      error instanceof McpFailure && (error.code === 'interrupted' || error.code === 'unavailable')
    if (!isGone) throw error
    await verbs.wait({ pid, timeoutMs: END_MS }, { signal })
    return { isAtQuestion: legacy || before === null, why }
  }
}

/** From the oldest call that is still open: questions of the server since then may be unanswered. */
async function firstOffset({ verbs, agent }: Opening<McpCommandSpec>, pid: string): Promise<number> {
  const { processes } = await verbs.list({ filter: { parent: agent.pid, kind: 'tool' }, limit: 1_000 })
  const calls = processes.filter(({ record }) => !isQuestion(record))
  const since = Math.min(...calls.map(({ record }) => record.createdAt))
  if (Number.isFinite(since)) return (await verbs.output({ pid, since, limit: 1 })).offset
  return (await verbs.output({ pid, offset: 0, limit: 1 })).end
}

export async function connectHttp(opening: Opening<McpHttpSpec>): Promise<Connected> {
  const { name, events, signal, spec, secrets } = opening
  const channel = await openHttpChannel({ name, spec, secrets })
  let isSettled = false
  const connection = new Connection(spec.url, name, channel, {
    ...events,
    ended: (why) => {
      if (isSettled) events.ended(why)
    },
  })
  try {
    const negotiated = await negotiate(connection, { legacy: false, signal })
    channel.negotiated(negotiated)
    await completeHandshake(connection, negotiated)
    listen(connection, negotiated, events)
    isSettled = true
    return { connection, negotiated }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** The failure that callers see. */
export function unavailable(error: unknown, name: string): unknown {
  if (error instanceof McpFailure) return error
  if (!(error instanceof ReeveError) || error.code === 'closed') return error
  return new McpFailure(
    'unavailable',
    `The MCP server ${name} cannot be used: ${messageOf(error)} ${error.remedy}`,
  )
}
