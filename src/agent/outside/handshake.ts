import { type OutsideProgram, type ProgramState, signInRemedy } from '../../core/agent/outside.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { specOf, startSpecOf } from '../../core/process/spec.ts'
import type { KeptIncoming } from '../kept-rpc/incoming.ts'
import { keptMessages } from '../kept-rpc/kept-messages.ts'
import { type RpcMessage, requestMessage } from '../kept-rpc/rpc-message.ts'
import { writeWhileAlive } from '../kept-rpc/write-message.ts'
import type { OpenedProgram } from './open-program.ts'
import { OutsideFailure } from './outside-failure.ts'
import type { OutsideParts } from './outside-parts.ts'

interface Handshake {
  readonly parts: OutsideParts
  readonly agent: ProcessRecord
  readonly outside: OutsideProgram
  readonly pid: string
  /** The conversation with the program before this one. */
  readonly before: ProgramState | null
  readonly signal: AbortSignal
  readonly startMs: number
}

const PROTOCOL = 1
/** Its requests have fixed numbers and ids: a kernel that takes over finds the answers at the beginning of the output. */
const REQUESTS = { initialize: 1, 'session/resume': 2, 'session/load': 3, 'session/new': 4 } as const
/** Of later messages: the number of an event is at least 1. */
export const FIRST_SEQ = 10

type Result = Extract<RpcMessage, { readonly type: 'result' | 'error' }> & { readonly end: number }

/** Agrees on the protocol, and opens a session: the one before if the program can, else a new one. */
export async function shakeHands(handshake: Handshake): Promise<OpenedProgram> {
  const { parts, agent, outside, pid, before, signal } = handshake
  const reading = new AbortController()
  const verbs = parts.verbsOf(agent)
  const answers = keptMessages(verbs, pid, 0, AbortSignal.any([signal, reading.signal]))
  const ask = async (method: keyof typeof REQUESTS, params: JsonObject): Promise<Result> => {
    const message = requestMessage(`reeve:${method}`, method, params)
    await writeWhileAlive(verbs, pid, message, REQUESTS[method])
    return answerTo(answers, `reeve:${method}`, method, handshake)
  }
  try {
    const initialized = await ask('initialize', initializeParams(parts.version))
    const { can, methods } = initializedBy(outside.name, initialized)
    const place = { cwd: agent.cwd ?? '/', mcpServers: serversOf(parts, agent) }
    const opened = (session: string, how: OpenedProgram['how'], offset: number): OpenedProgram => ({
      how,
      program: {
        pid,
        session,
        can,
        offset,
        told: how === 'new' ? 0 : (before?.told ?? 0),
        ...costBefore(how === 'new' ? agent.agent?.totals.cost : before?.costBefore),
        prompt: null,
        permissions: [],
        sent: null,
      },
    })
    for (const way of before === null ? [] : WAYS.filter((one) => can.includes(one.can))) {
      const sessionId = before?.session ?? ''
      const answer = await ask(way.method, { sessionId, ...place })
      if (answer.type === 'result') return opened(sessionId, way.how, answer.end)
    }
    const answer = await ask('session/new', place)
    if (answer.type === 'error')
      throw new OutsideFailure('setup_failed', signInText(outside, answer, methods))
    const { sessionId } = answer.result
    if (typeof sessionId !== 'string' || sessionId === '')
      throw new OutsideFailure('setup_failed', `${outside.name} opened a session without an id.`)
    return opened(sessionId, 'new', answer.end)
  } finally {
    reading.abort()
    await answers.return(undefined)
  }
}

function costBefore(cost = 0): Pick<OpenedProgram['program'], 'costBefore'> {
  return cost === 0 ? {} : { costBefore: cost }
}

/** `session/load` sends the whole history again, before it answers: that is dropped. */
const WAYS = [
  { can: 'resume', method: 'session/resume', how: 'resumed' },
  { can: 'load', method: 'session/load', how: 'loaded' },
] as const

async function answerTo(
  answers: AsyncGenerator<KeptIncoming>,
  id: string,
  method: string,
  { outside, startMs, signal }: Handshake,
): Promise<Result> {
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => late.resolve('late'), startMs)
  try {
    for (;;) {
      const next = await Promise.race([answers.next(), late.promise])
      signal.throwIfAborted()
      if (next === 'late')
        throw new OutsideFailure(
          'setup_failed',
          `${outside.name} has not answered ${method} within ${startMs / 1_000} s.`,
        )
      if (next.done === true) throw new OutsideFailure('setup_failed', `The output of ${outside.name} ended.`)
      const { incoming, end } = next.value
      if (incoming.type === 'ended')
        throw new OutsideFailure(
          'setup_failed',
          `${outside.name} ended before it answered ${method}: ${incoming.why}.${remedyOf(outside)}`,
        )
      if (incoming.type !== 'message') continue
      const { message } = incoming
      if ((message.type === 'result' || message.type === 'error') && message.id === id)
        return { ...message, end }
    }
  } finally {
    clearTimeout(timer)
  }
}

function remedyOf({ install }: OutsideProgram): string {
  return install === null ? '' : ` If it is not installed: ${install}.`
}

function initializeParams(version: string): JsonObject {
  return {
    protocolVersion: PROTOCOL,
    clientInfo: { name: 'reeve', title: 'Reeve', version },
    // Programs then use their own files and terminals, or Reeve's MCP server.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  }
}

function initializedBy(
  name: string,
  answer: Result,
): { readonly can: readonly string[]; readonly methods: Json } {
  if (answer.type === 'error')
    throw new OutsideFailure('setup_failed', `${name} refused to begin: ${answer.error.message}`)
  const { protocolVersion, agentCapabilities, authMethods = [] } = answer.result
  if (protocolVersion !== PROTOCOL)
    throw new OutsideFailure(
      'setup_failed',
      `${name} speaks version ${String(protocolVersion)} of the protocol, and Reeve version ${PROTOCOL}.`,
    )
  const { loadSession, promptCapabilities, sessionCapabilities } = objectOf(agentCapabilities)
  const { image, embeddedContext } = objectOf(promptCapabilities)
  const able = {
    resume: objectOf(sessionCapabilities)['resume'],
    load: loadSession,
    image,
    context: embeddedContext,
  }
  const can = Object.entries(able).flatMap(([what, given]) => (isGiven(given) ? [what] : []))
  return { can, methods: authMethods }
}

function isGiven(capability: Json | undefined): boolean {
  return capability === true || (typeof capability === 'object' && capability !== null)
}

function signInText(
  outside: OutsideProgram,
  { error }: Extract<Result, { type: 'error' }>,
  methods: Json,
): string {
  const ways = (Array.isArray(methods) ? methods : []).map((method: Json) => {
    const { name: title, id, description } = objectOf(method)
    return `${String(title ?? id)}${typeof description === 'string' ? ` (${description})` : ''}`
  })
  const how = ways.length === 0 ? '' : ` It offers: ${ways.join('; ')}.`
  return `${outside.name} opened no session: ${error.message} (${error.code}). ${signInRemedy(outside)}${how}`
}

/** The MCP servers of the agent's spec, and Reeve's own. */
function serversOf(parts: OutsideParts, agent: ProcessRecord): readonly JsonObject[] {
  const { mcpServers = {} } = specOf({ kind: agent.kind, spec: startSpecOf(agent) }, 'agent')
  const own = parts.ownServer(agentSessionOf(agent.pid), agent.pid)
  const started = Object.entries(mcpServers).flatMap(([name, server]) => {
    if (server.type !== 'command') return []
    const [command = '/bin/sh', ...args] = server.argv ?? ['/bin/sh', '-c', server.run ?? '']
    const env = Object.entries(parts.secrets(server.env ?? {})).map(([key, value]) => ({ name: key, value }))
    return [{ name, command, args, env }]
  })
  return own === null ? started : [own, ...started]
}
