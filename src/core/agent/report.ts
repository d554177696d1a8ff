import { isObject } from '../../base/is-object.ts'
import type { Json } from '../json/json.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../process/record.ts'
import { startSpecOf } from '../process/spec.ts'
import { NOT_DRIVEN } from './delegation.ts'
import type { NextTurn } from './goal.ts'
import { agentSessionOf } from './session.ts'
import type { OpenTurn, Part, TurnReason } from './state.ts'
import type { TurnEnded } from './turns.ts'

/**
 * | `finished`  | it did what it was asked for                                                    |
 * | `waiting`   | its turn has finished, and commands or agents that it started are still at work |
 * | `gave_up`   | it stopped before: a limit, a stalled goal, an answer that could not be used    |
 * | `failed`    | it could not go on: its provider, its tools or its holders failed               |
 * | `cancelled` | a caller ended the turn                                                         |
 */
type ReportState = 'finished' | 'waiting' | 'gave_up' | 'failed' | 'cancelled'

/** What a parent is told about a child: the result of a turn that it asked for, the end of the child, or both at once. */
export interface ReportDue {
  /** Null: only the end is reported. */
  readonly turn: { readonly open: OpenTurn; readonly ended: TurnEnded } | null
  readonly isEnd: boolean
}

/** Facts besides the record, read in the transaction of the report. */
export interface ReportFacts {
  /** When the input of the turn was given, and its text. */
  readonly asked: { readonly at: number; readonly text: string } | null
  /** The parts of the last answer of the turn. Long ones are references to blobs. */
  readonly said: readonly Part[]
  /** The beginning of the result, if `said` has it as a blob. */
  readonly beginning: string | null
  /** Whether commands or agents that it started are still at work. */
  readonly isWaiting: boolean
}

interface Change {
  readonly was: ProcessRecord
  readonly now: ProcessRecord
  readonly events: readonly { readonly type: string; readonly payload: Json }[]
}

/**
 * The report that these events cause; null if they cause none. Turns that the child began itself are silent, and so are the turns of a goal
 * loop that goes on: its last turn reports.
 */
export function reportDue({ was, now, events }: Change): ReportDue | null {
  if (now.parent === null || was.agent === null) return null
  if (now.firstStarted === null && now.outcome?.reason === NOT_DRIVEN) return null
  const isEnd = hasEnded(now) && !hasEnded(was)
  const open = was.agent.turn
  const event = open === null ? undefined : events.find(({ type }) => type === 'turn_ended')
  const turn =
    open === null || event === undefined || !isAskedByParent(now, open)
      ? null
      : { open, ended: event.payload as Json & TurnEnded }
  if (turn !== null && turn.ended.goal !== 'go_on') return { turn, isEnd }
  return isEnd ? { turn: null, isEnd } : null
}

/** By the actor of the request: the one that began the turn, one that joined it, or one that resumed it. */
function isAskedByParent({ parent }: ProcessRecord, { asker, joinedBy = [] }: OpenTurn): boolean {
  return [asker, ...joinedBy].some((actor) => isParent(parent ?? '', actor))
}

/** An agent acts as a process; programs with a token of its session act as that session. */
function isParent(parent: string, actor: Actor): boolean {
  return actor === `process:${parent}` || actor === `session:${agentSessionOf(parent)}`
}

/** The key of a report in the log of the parent: each is told once. */
export function reportKey(child: string, due: ReportDue): string {
  return `report:${child}:${due.turn === null ? 'end' : due.turn.open.number}`
}

const MAX_GOAL_CHARS = 4_000
const MAX_CONTEXT_CHARS = 2_000

/** The report, as parts of a notice: a text that stands alone, the same facts for programs, and the whole result. */
export function reportParts(
  child: ProcessRecord,
  due: ReportDue,
  facts: ReportFacts,
  { at, mask }: { readonly at: number; readonly mask: (text: string) => string },
): readonly Part[] {
  const { pid, identity, outcome, agent } = child
  const spec = startSpecOf(child)
  const { turn } = due
  const { isWaiting } = facts
  const found = turn === null ? stateOfEnd(child) : stateOf(turn.ended)
  const state = isWaiting && found === 'finished' ? 'waiting' : found
  const reason = turn?.ended.reason ?? outcome?.reason ?? null
  const message = turn?.ended.message ?? turn?.ended.check?.found ?? null
  const used = turn === null ? agent?.totals : turn.open.used
  const begun = turn?.open.beganAt ?? child.firstStarted?.at ?? child.createdAt
  const report = {
    pid,
    label: mask(identity.label),
    role: textOr(spec['agent'], null),
    model: textOr(spec['model'], null),
    tools: Array.isArray(spec['tools']) ? spec['tools'].map(String) : null,
    goal: cut(mask(goalText(spec['goal'])), MAX_GOAL_CHARS),
    context: cut(mask(textOr(spec['context'], '')), MAX_CONTEXT_CHARS),
    turn: turn?.open.number ?? null,
    request: turn === null ? '' : cut(facts.asked?.text ?? '', MAX_GOAL_CHARS),
    askedAt: facts.asked?.at ?? begun,
    calls: turn?.ended.calls ?? 0,
    durationMs: Math.max(0, at - begun),
    tokensIn: used?.inputTokens ?? 0,
    tokensOut: used?.outputTokens ?? 0,
    cost: used?.cost ?? 0,
    unpriced: used?.unpriced ?? 0,
    state,
    reason,
    message,
    isEnd: due.isEnd,
    isWaiting,
    outcome: outcome?.status ?? null,
  }
  const said = saidText(facts, pid, turn?.open.number ?? null)
  const text = [...head(report), ...(said === '' ? [] : [`${resultHead(state)}:`, said])].join('\n')
  const whole = facts.said
    .filter(({ type }) => type === 'blob')
    .map((part) => ({ ...part, mediaType: WHOLE }))
  return [{ type: 'report', text, report }, ...whole]
}

/** The media type of a long result. The prompt does not load it: the parent reads it with a tool. */
const WHOLE = 'application/vnd.reeve.result+json'

type Report = Readonly<Record<'pid' | 'label' | 'goal' | 'context' | 'request', string>> &
  Readonly<Record<'role' | 'model' | 'reason' | 'message' | 'outcome', string | null>> &
  Readonly<
    Record<'askedAt' | 'calls' | 'durationMs' | 'tokensIn' | 'tokensOut' | 'cost' | 'unpriced', number>
  > & {
    readonly turn: number | null
    readonly tools: readonly string[] | null
    readonly state: ReportState
    readonly isEnd: boolean
    readonly isWaiting: boolean
  }

function head(report: Report): readonly string[] {
  const { pid, label, turn, state, reason, message, isEnd, isWaiting, outcome } = report
  const what = turn === null ? 'it has ended' : `turn ${turn} ${WORDS[state]}`
  const why = reason === null || reason === state || reason === 'finished' ? '' : ` (${reason})`
  const end = isEnd ? ` The agent has ended (${outcome}).` : ''
  const waits = isWaiting ? ' It waits: commands or agents that it started are still at work.' : ''
  const { role, model, tools, goal, context, request } = report
  return [
    `Report of agent ${pid} ${JSON.stringify(label)}: ${what}${why}.${end}${waits}`,
    `Role: ${role}. Model: ${model}. Tools: ${tools === null ? 'all' : tools.join(', ') || 'none'}.`,
    ...(goal === '' ? [] : [`Goal: ${goal}`]),
    ...(context === '' ? [] : [`Context: ${context}`]),
    ...(request === '' || request === goal ? [] : [`Request: ${request}`]),
    useText(report),
    ...(message === null ? [] : [`Message: ${message}`]),
  ]
}

const WORDS: Readonly<Record<ReportState, string>> = {
  finished: 'finished',
  waiting: 'is over',
  gave_up: 'gave up',
  failed: 'failed',
  cancelled: 'was cancelled',
}

function useText({ askedAt, calls, durationMs, tokensIn, tokensOut, cost, unpriced }: Report): string {
  const price = unpriced > 0 ? `$${cost} and ${unpriced} calls of unknown cost` : `$${cost}`
  const asked = new Date(askedAt).toISOString()
  return `Asked ${asked}; ${calls} model calls, ${durationMs / 1_000} s, ${tokensIn} + ${tokensOut} tokens, ${price}.`
}

function resultHead(state: ReportState): string {
  return state === 'finished' || state === 'waiting' ? 'Result' : 'Partial output'
}

function saidText({ said, beginning }: ReportFacts, pid: string, turn: number | null): string {
  const texts = said.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []))
  if (!said.some(({ type }) => type === 'blob')) return texts.join('\n')
  const rest = `(The whole text is longer: read it with agent_read, pid ${pid}, turn ${turn ?? 0}.)`
  return [beginning ?? '', ...(beginning === null ? texts : []), rest]
    .filter((text) => text !== '')
    .join('\n')
}

/** A goal loop ended without its goal, as far as it is known. */
const GAVE_UP: ReadonlySet<NextTurn> = new Set(['budget_over', 'stalled', 'unchecked'])

function stateOf({ reason, goal }: TurnEnded): ReportState {
  if (reason === 'finished') return goal !== undefined && GAVE_UP.has(goal) ? 'gave_up' : 'finished'
  return stateOfReason(reason)
}

function stateOfReason(reason: Exclude<TurnReason, 'finished'>): ReportState {
  switch (reason) {
    case 'cancelled':
    case 'rolled_back':
    case 'paused':
      return 'cancelled'
    case 'provider_error':
    case 'tool_unavailable':
    case 'setup_failed':
    case 'crashed':
      return 'failed'
    default:
      return 'gave_up'
  }
}

function stateOfEnd({ outcome }: ProcessRecord): ReportState {
  if (outcome?.status === 'completed') return 'finished'
  return outcome?.status === 'cancelled' ? 'cancelled' : 'failed'
}

function goalText(goal: Json | undefined): string {
  return typeof goal === 'string' ? goal : isObject(goal) ? JSON.stringify(goal) : ''
}

function textOr<Other extends string | null>(value: Json | undefined, other: Other): string | Other {
  return typeof value === 'string' ? value : other
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`
}
