import type { Notice, NoticeKind } from '../inbox/notice.ts'
import { sentenceOf } from '../inbox/sentence.ts'
import type { Pid } from '../process/pid.ts'
import { hasEnded, type ProcessRecord, type Scope } from '../process/record.ts'
import { agentOfSession, agentSessionOf } from './session.ts'
import type { NoticeCause, Part } from './state.ts'

/** A notice for the session of an agent, as the agent is told of it. */
export interface ToldNotice {
  readonly agent: Pid
  readonly id: string
  readonly cause: Extract<NoticeCause, 'child' | 'message' | 'wake'>
  readonly parts: readonly Part[]
}

/**
 * The agent that is told of this notice, which the process `about` made; null if none is. Ends that a tool call waits for make no
 * notice: the call has them in its result. `parent`: that of `about`.
 */
export function toldNotice(
  notice: Notice,
  about: ProcessRecord,
  parent: ProcessRecord | null,
  mask: (text: string) => string,
): ToldNotice | null {
  const { scope, pid, seq, kind } = notice
  const cause = CAUSES[kind]
  const agent = agentOfScope(scope)
  if (agent === null || cause === undefined) return null
  if (cause !== 'message' && (!isOfToolCall(about) || wasStoppedFor(agent, about))) return null
  if (cause === 'child' && parent !== null && isToBeRepeated(parent)) return null
  // The report of an agent has its end, too.
  if (kind === 'completion' && about.agent !== null && about.parent === agent) return null
  const text = mask(sentenceOf({ ...notice, tail: null }))
  return { agent, id: `${kind}:${pid}:${seq}`, cause, parts: [{ type: 'text', text }] }
}

/** The agent whose session this scope is. */
export function agentOfScope(scope: Scope): Pid | null {
  return scope.startsWith(SESSION) ? agentOfSession(scope.slice(SESSION.length)) : null
}

const SESSION = 'session:'

/** Other kinds are for people. */
const CAUSES: Readonly<Partial<Record<NoticeKind, ToldNotice['cause']>>> = {
  completion: 'child',
  group_completion: 'child',
  watch_match: 'wake',
  watch_disabled: 'wake',
  ready: 'wake',
  heartbeat: 'wake',
  wake: 'wake',
  message: 'message',
}

/** MCP servers and checks of goals belong to the session, too, and to no call: the agent did not start them. */
function isOfToolCall({ owner }: ProcessRecord): boolean {
  return owner.toolCall !== undefined
}

/** The agent itself asked for the stop, or its turn was cancelled: the news would begin the turn again. */
function wasStoppedFor(agent: Pid, { stopRequest }: ProcessRecord): boolean {
  if (stopRequest === null) return false
  const { source } = stopRequest
  return (
    source.startsWith('kernel:') ||
    source === `process:${agent}` ||
    source === `session:${agentSessionOf(agent)}`
  )
}

/** A call whose first attempt was lost finds the end by itself, and has it in its result. */
function isToBeRepeated(call: ProcessRecord): boolean {
  return !hasEnded(call) && (call.status === 'queued' || call.attempts > 1)
}
