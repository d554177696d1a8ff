import type { JsonObject } from '../../core/json/json.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { keptMessages, type LogReader } from '../kept-rpc/kept-messages.ts'
import { requestMessage } from '../kept-rpc/rpc-message.ts'
import type { Connection } from './connection.ts'
import type { KeptChannel } from './kept-channel.ts'
import { seqOf } from './kept-writes.ts'
import { McpFailure } from './mcp-failure.ts'
import { type NoteVerbs, noteRequest, type RequestNote, sentNotes } from './sent-notes.ts'

export interface ToolRequest {
  /** The pid of the call. */
  readonly call: string
  readonly round: number
  readonly params: JsonObject
  /** The tool changes nothing, so that another server may be asked again. */
  readonly isReadOnly: boolean
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Called before the first request of the call leaves. Throws if the call must not be made. */
  readonly refuse: () => void
}

type ExchangeVerbs = LogReader & NoteVerbs & Pick<ReeveVerbs, 'show' | 'output'>

interface Parts {
  readonly name: string
  readonly verbs: ExchangeVerbs
  readonly channel: KeptChannel
  readonly connection: Connection
}

/** Sends a request of a call to a kept server, once, whichever kernel sends it; finds the response wherever it is. */
export async function keptExchange(parts: Parts, request: ToolRequest): Promise<JsonObject> {
  const { verbs, channel } = parts
  const { call, round } = request
  const { requests } = await sentNotes(verbs, call)
  const notes = requests.filter((note) => note.round === round)
  const here = notes.find(({ server }) => server === channel.pid)
  if (here !== undefined) return resumed(parts, request, here)
  for (const note of notes) {
    const found = await responseOf(parts, request, note.server)
    if (found !== undefined) return found
    if (!request.isReadOnly)
      throw new McpFailure(
        'interrupted',
        `The MCP server ${parts.name} ended before it answered. Whether the call had an effect is unknown: check before you repeat it.`,
      )
  }
  if (round === 0) request.refuse()
  return sent(parts, request)
}

export function requestId({ call, round }: Pick<ToolRequest, 'call' | 'round'>): string {
  return round === 0 ? call : `${call}:${round}`
}

async function sent(parts: Parts, request: ToolRequest): Promise<JsonObject> {
  const { verbs, channel, connection } = parts
  const { call, round, params, signal, timeoutMs } = request
  const response = Promise.withResolvers<JsonObject>()
  await channel.writes.next(async () => {
    const note = await noteRequest(verbs, call, { server: channel.pid, round })
    const options = { seq: seqOf(note), signal, timeoutMs }
    const { written, answered } = connection.begin(requestId(request), 'tools/call', params, options)
    answered.then(response.resolve, response.reject)
    await written
  })
  return response.promise
}

/** The request was noted by an earlier kernel, which may not have come to sending it. */
async function resumed(parts: Parts, request: ToolRequest, note: RequestNote): Promise<JsonObject> {
  const { channel, name } = parts
  const message = requestMessage(requestId(request), 'tools/call', request.params)
  await channel.writes
    .repeat(note, (seq) => channel.send(message, { seq }))
    .catch((error: unknown) => {
      // Of a server that has ended meanwhile, the answer may be in the log.
      if (!(error instanceof McpFailure)) throw error
    })
  const found = await responseOf(parts, request, note.server)
  if (found !== undefined) return found
  throw new McpFailure(
    'interrupted',
    `The MCP server ${name} ended before it answered. Whether the call had an effect is unknown: check before you repeat it.`,
  )
}

/** Looks for the response in the output since the call began, and waits for it while the server lives. */
async function responseOf(
  { verbs, name, connection }: Parts,
  request: ToolRequest,
  server: string,
): Promise<JsonObject | undefined> {
  const { call, timeoutMs } = request
  const { createdAt } = await verbs.show({ pid: call })
  const { offset } = await verbs.output({ pid: server, since: createdAt, limit: 1 })
  const late = new AbortController()
  const stopTimer = connection.after(timeoutMs, () => late.abort())
  try {
    const found = await findResponse(verbs, server, {
      offset,
      id: requestId(request),
      signal: AbortSignal.any([request.signal, late.signal]),
    })
    request.signal.throwIfAborted()
    if (!late.signal.aborted) return found
  } finally {
    stopTimer()
  }
  throw new McpFailure('timed_out', `The MCP server ${name} has not answered within ${timeoutMs / 1_000} s.`)
}

/** Undefined if the server ended, or the signal is aborted. */
async function findResponse(
  verbs: LogReader,
  server: string,
  { offset, id, signal }: { readonly offset: number; readonly id: string; readonly signal: AbortSignal },
): Promise<JsonObject | undefined> {
  for await (const { incoming } of keptMessages(verbs, server, offset, signal)) {
    if (incoming.type === 'ended') return undefined
    if (incoming.type !== 'message') continue
    const { message } = incoming
    if (message.type === 'result' && message.id === id) return message.result
    if (message.type === 'error' && message.id === id)
      throw new McpFailure('refused', `${message.error.message} (${message.error.code})`, message.error.code)
  }
  // The kernel closes: the call goes on in the next one.
  if (!signal.aborted)
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return undefined
}
