import { ReeveError } from '../core/errors.ts'
import { type FollowAgentVerbs, followAgent } from '../verbs/follow-agent.ts'
import { followInbox, type InboxVerbs } from '../verbs/follow-inbox.ts'
import type { CallOptions, OutputOf, Reeve, ReeveVerbs, VerbName } from '../verbs/reeve.ts'
import { routes } from '../verbs/routes.ts'
import { addressOf, type ConnectOptions } from './address.ts'
import { call, type Line } from './call.ts'
import { follow } from './follow.ts'
import { followOutput } from './follow-output.ts'
import { Transport } from './transport.ts'

export type { ConnectOptions } from './address.ts'

const RETRY_MS = 10_000
/** How long the first answer from a URL may take: another program may listen there, and never answer. */
const MAX_FIRST_ANSWER_MS = 30_000

/**
 * Called when no daemon can be reached, until one can. `hasAnswered`: a daemon was there before. `wasHeard`: it may have received
 * the request that is to be repeated. Returns the identity of the daemon that is ready, if there is one.
 */
export type Revive = (hasAnswered: boolean, wasHeard: boolean) => Promise<string | undefined>

type Actor = Parameters<Reeve['as']>[0]

/**
 * Connects to a daemon, which runs on when this client is closed. The same interface as `embed`.
 *
 * ```ts
 * const reeve = await connect()
 * const { record } = await reeve.spawn({ kind: 'command', spec: { run: 'make' } })
 * for await (const { bytes } of reeve.followOutput({ pid: record.pid })) process.stdout.write(bytes)
 * await reeve.close()
 * ```
 */
export async function connect(options: ConnectOptions = {}): Promise<Reeve> {
  return connectWith(options)
}

/** With a function that starts the daemon again when it is gone. */
export async function connectWith(options: ConnectOptions, revive?: Revive): Promise<Reeve> {
  const line = lineTo(options, revive)
  try {
    return reeveOn(line, await kernelOf(line))
  } catch (error) {
    line.transport.close()
    throw error
  }
}

/** Sends no request: the first call finds out whether a daemon is there. */
export function connectUnasked(options: ConnectOptions, revive?: Revive): Reeve {
  return reeveOn(lineTo(options, revive), '')
}

/** The position of the change feed just before the last answer was made: following from there misses nothing. */
export function positionOf(acting: ReeveVerbs): number | undefined {
  return lines.get(acting)?.seen.position
}

/** The same verbs for answers that the client of an agent passes on: the daemon allows them less than those of a person. */
export function throughClient(
  reeve: ReeveVerbs,
  { sessions, elicited }: { readonly sessions: readonly string[]; readonly elicited: boolean },
): ReeveVerbs {
  const line = lines.get(reeve)
  if (line === undefined) throw new TypeError('Only the verbs of a connection can be limited.')
  const limits = {
    'reeve-own-sessions': sessions.map(encodeURIComponent).join(','),
    ...(elicited ? { 'reeve-elicited': '1' } : {}),
  }
  return acting({ ...line, headers: { ...line.headers, ...limits }, seen: {} }, reeve.kernel)
}

const lines = new WeakMap<ReeveVerbs, Line>()

function lineTo(options: ConnectOptions, revive: Revive | undefined): Line {
  const transport = new Transport(addressOf(options))
  const bring =
    revive === undefined ? undefined : (wasHeard: boolean) => revive(transport.hasAnswered, wasHeard)
  return { transport, headers: {}, revive: bring, retryMs: RETRY_MS, seen: {} }
}

function reeveOn(line: Line, kernel: string): Reeve {
  const reeve: Reeve = {
    ...acting(line, kernel),
    as: (actor: Actor) => acting({ ...line, headers: { 'reeve-as': actor }, seen: {} }, kernel),
    close: async () => line.transport.close(),
  }
  lines.set(reeve, line)
  return reeve
}

function acting(line: Line, kernel: string): ReeveVerbs {
  const acts = (Object.keys(routes) as VerbName[]).map((name) => [
    name,
    (input: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}) =>
      call(line, name, input, options),
  ])
  const made: ReeveVerbs = {
    ...(Object.fromEntries(acts) as Omit<
      ReeveVerbs,
      'kernel' | 'follow' | 'followOutput' | 'followAgent' | 'inbox' | 'attach'
    >),
    kernel,
    follow: (input = {}, options = {}) => follow(line, input, options),
    followOutput: (input, options = {}) => followOutput(line, input, options),
    followAgent: (input, options = {}) => followAgent(patientVerbs(line), input, options),
    inbox: (input, options = {}) => followInbox(patientVerbs(line), input, options),
    // Loads the WebSocket library only when it is needed.
    attach: async (input, options = {}) => (await import('./attach.ts')).attach(line, input, options),
  }
  lines.set(made, line)
  return made
}

/** For following an inbox or an agent: waits for a daemon that is away without a limit. */
function patientVerbs(line: Line): InboxVerbs & FollowAgentVerbs {
  const asked = { ...line, retryMs: Number.POSITIVE_INFINITY }
  return {
    notices: async (input, options) => (await call(asked, 'notices', input, options)) as OutputOf<'notices'>,
    agentLog: async (input, options) =>
      (await call(asked, 'agentLog', input, options)) as OutputOf<'agentLog'>,
    outputStreams: async (input, options) =>
      (await call(asked, 'outputStreams', input, options)) as OutputOf<'outputStreams'>,
    follow: (input = {}, options = {}) => follow(line, input, options),
    followOutput: (input, options = {}) => followOutput(line, input, options),
    takeNotices: async (input, options) =>
      (await call(asked, 'takeNotices', input, options)) as OutputOf<'takeNotices'>,
  }
}

/** Empty for a session, which may not call `status`. */
async function kernelOf(line: Line): Promise<string> {
  const { url, shown } = line.transport.address
  const deadline = new AbortController()
  const timer = url === null ? undefined : setTimeout(() => deadline.abort(), MAX_FIRST_ANSWER_MS)
  try {
    const asked = { ...line, retryMs: 0 }
    const { daemon } = (await call(asked, 'status', {}, { signal: deadline.signal })) as OutputOf<'status'>
    return daemon.id
  } catch (error) {
    if (deadline.signal.aborted) throw unanswered(shown)
    if (error instanceof ReeveError && error.code === 'denied') return ''
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function unanswered(shown: string): ReeveError {
  return new ReeveError(
    'daemon_unreachable',
    `${shown} has not answered within ${MAX_FIRST_ANSWER_MS / 1_000} s.`,
    'Check the address of the daemon (--url, REEVE_URL): another program may listen there.',
  )
}
