import type { Amounts, Counted } from '../allowance/amounts.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { AgentMemory } from '../memory/memory-note.ts'
import type { Actor, ProcessRecord } from '../process/record.ts'
import type { BranchTurns } from './branch.ts'
import type { EarlierLog } from './earlier-logs.ts'
import type { AlertKind } from './event.ts'
import type { ForkedFrom } from './fork.ts'
import type { ProgramState } from './outside.ts'
import type { ReportGroup } from './report-group.ts'

/** Inputs that wait for their turn. One more is refused: a client that sends faster than the agent works must hear of it. */
export const MAX_QUEUED_INPUTS = 64
/** Notices that wait for the next model call. Later ones are counted, and stay in the log. */
export const MAX_BUFFERED_NOTICES = 256
/** Tool calls of one answer that are executed. A model that asks for more gets an error result for the rest. */
export const MAX_CALLS_PER_ANSWER = 128
/** Tool calls that an answer may have. Models answer with no more parts: a larger answer fails as `answer_too_large`. */
export const MAX_RECORDED_CALLS = 512
/** Crashes of one turn without progress. The turn ends with the last of them. */
export const MAX_TURN_CRASHES = 5
/** Model calls of one turn that were cut without progress between them. The turn ends with the last of them. */
export const MAX_TURN_CUTS = 20
/** Repairs of an answer that does not fit the requested schema. */
export const MAX_OUTPUT_REPAIRS = 3
/** Turns of a goal loop, if the request names no number. */
export const DEFAULT_GOAL_TURNS = 20
export const MAX_GOAL_TURNS = 1_000
/** How many checks of a goal loop are compared: equal ones mean that it stalls. */
export const GOAL_CHECKS = 3
/** Call and result pairs that the stall check looks at: enough for six alternations. */
export const STALL_WINDOW = 6
/** Actors of one turn that are remembered besides its asker. A parent is one of the first, or gets no report of that turn. */
export const MAX_JOINED = 16

export const TURN_REASONS = [
  'finished',
  'cancelled',
  'rolled_back',
  'paused',
  'refused',
  'provider_error',
  'invalid_tool_calls',
  'invalid_output',
  'tool_unavailable',
  'setup_failed',
  'crashed',
] as const
/** How a turn ended. `limit:<name>` names the limit that ended it. */
export type TurnReason = (typeof TURN_REASONS)[number] | `limit:${string}`

export const TURN_CAUSES = [
  'user',
  'notify',
  'child',
  'message',
  'schedule',
  'wake',
  /** The next turn of a goal loop. */
  'goal',
  /** No user input: files are put back after a rewind. */
  'rewind',
  /** No user input: the session is to be shortened. */
  'compact',
] as const
/** Why a turn began. */
export type TurnCause = (typeof TURN_CAUSES)[number]
export const NOTICE_CAUSES = ['notify', 'child', 'message', 'schedule', 'wake'] as const
export type NoticeCause = (typeof NOTICE_CAUSES)[number]

export const INPUT_MODES = ['run', 'queue', 'steer'] as const
export type InputMode = (typeof INPUT_MODES)[number]

export const CALL_PURPOSES = ['answer', 'compaction'] as const
export type CallPurpose = (typeof CALL_PURPOSES)[number]

/** One piece of an entry: text, a tool call, a reference to a blob. The rules here look at no more than its type. */
export type Part = JsonObject & { readonly type: string }

/** When a goal loop has reached its goal: a command succeeds, or a model says so. */
export type Until =
  | { readonly type: 'command'; readonly run: string }
  | { readonly type: 'model'; readonly check: string }

/**
 * The state of a native agent: the part of its session log that decides what may happen next. Everything in it is bounded; entries
 * are events, and are not repeated here.
 */
export interface AgentState {
  /** The number of the last turn that began. */
  readonly turns: number
  readonly turn: OpenTurn | null
  /** Admitted inputs that no turn has taken, in their order. */
  readonly inputs: readonly QueuedInput[]
  readonly notices: NoticeBuffer
  /** `seq` of the last entry of the current branch; the next entry follows it. 0 before the first, and not more in an earlier log. */
  readonly head: number
  readonly segment: Segment
  readonly totals: AgentTotals
  /** The last tool calls with their results, for the stall check. */
  readonly stall: readonly StallPair[]
  readonly goal: GoalLoop | null
  /** The last turn, if a limit ended it before its first model call: a larger limit goes on with it. Absent otherwise. */
  readonly unanswered?: UnansweredTurn
  /** Soft limits that were reached: each pauses the agent once. */
  readonly reached: readonly Counted[]
  /** Commands of other tool calls whose output the live segment shows. They are kept as long as it does. */
  readonly outputs?: readonly ReferredOutput[]
  /** Groups of its agents whose report is not complete. Absent if there is none. */
  readonly groups?: readonly ReportGroup[]
  /** The logs of the agents whose session it continues, the oldest first. Absent if there is none. */
  readonly earlier?: readonly EarlierLog[]
  /** Of a fork, and of an agent that goes on with the session of one: where it branches. */
  readonly forkedFrom?: ForkedFrom
  /** The turns of the current branch. Absent: all of them, because the session was not rewound. */
  readonly branch?: BranchTurns
  /** Of an outside agent that has a program. */
  readonly program?: ProgramState
  /** How far its long-term memory has come. Absent before the first job. */
  readonly memory?: AgentMemory
  /** The last alerts, the oldest first: a subscriber that comes later gets them with the record. Absent if there was none. */
  readonly alerts?: readonly RecentAlert[]
}

/** An alert as the record keeps it. The log has all of them, with their whole messages. */
export interface RecentAlert {
  readonly seq: number
  readonly at: number
  readonly alert: AlertKind
  readonly message: string
}

/** What the current branch decides of the state: a rewind puts it back. */
export type BranchState = Pick<AgentState, 'segment' | 'outputs' | 'unanswered'>

/** A model call of a session. */
export interface CallPlace {
  readonly turn: number
  readonly call: number
}

/** The call that showed the output of a command, and the command. */
export interface ReferredOutput extends CallPlace {
  readonly pid: string
}

/** A turn that has no answer yet. Its input and its notices are in the log, and in the next prompt. */
export interface UnansweredTurn extends Pick<OpenTurn, 'number' | 'cause' | 'asker' | 'input'> {
  readonly hasSchema: boolean
  readonly goal: GoalLoop | null
}

export interface OpenTurn {
  readonly number: number
  readonly cause: TurnCause
  /** The actor that asked for it. */
  readonly asker: Actor
  /** The input that it began with. */
  readonly input: string | null
  readonly beganAt: number
  /** `seq` of its first entry, and of the entry that it follows. */
  readonly from: number
  readonly follows: number
  /** How many model calls it has begun. */
  readonly calls: number
  /** The model call that is under way. */
  readonly call: OpenCall | null
  /** Tool calls without a result. No model call begins before each has one. */
  readonly tools: readonly OpenToolCall[]
  /** A model has produced output: the turn cannot be rolled back any more. */
  readonly hasOutput: boolean
  /** `model`: something waits for an answer of the model. `end`: the model has answered, and asks for nothing. */
  readonly expects: 'model' | 'end'
  /** Of a turn whose result must fit a schema: how often an answer was sent back. */
  readonly output: { readonly repairs: number } | null
  /** Holders that were lost since the last progress. */
  readonly crashes: number
  /** Model calls that were cut since the last progress. Absent if there was none. */
  readonly cuts?: number
  /** Inputs and notices that the turn has taken, until it has output: a roll-back returns them. */
  readonly taken: { readonly inputs: readonly string[]; readonly notices: NoticeBuffer }
  /** Tool calls of the turn before that were closed without a result: their processes are to be interrupted. */
  readonly interrupted: readonly ToolCallRef[]
  /** Further actors whose input joined the turn, or that resumed it. Absent if there is none. */
  readonly joinedBy?: readonly Actor[]
  /** File changes behind this place are still to be undone. */
  readonly undoSince?: number
  /** The use of its model calls. Absent before the first. */
  readonly used?: AgentTotals
}

interface OpenCall {
  readonly number: number
  readonly purpose: CallPurpose
  /** Where its output begins in the live log, once it has output. */
  readonly from?: number
}

export function shownFrom({ from }: OpenCall): { readonly from?: number } {
  return from === undefined ? {} : { from }
}

/** Names one tool call of an agent: turn, model call, index in the answer. Never the id of the provider. */
export interface ToolCallRef {
  readonly turn: number
  readonly call: number
  readonly index: number
}

export interface OpenToolCall {
  readonly call: number
  readonly index: number
  readonly callId: string
  readonly tool: string
}

export interface QueuedInput {
  readonly id: string
  readonly mode: Exclude<InputMode, 'run'>
  /** `seq` of the event that has its parts. */
  readonly seq: number
  readonly asker: Actor
  /** Its turn must end with a result that fits a schema. */
  readonly hasSchema: boolean
}

export interface NoticeBuffer {
  readonly kept: readonly BufferedNotice[]
  /** Further notices that are only counted. They are in the log. */
  readonly more: number
}

export interface BufferedNotice {
  readonly id: string
  readonly cause: NoticeCause
  /** `seq` of the event that has its parts. */
  readonly seq: number
}

/** A part of the session log with one system prompt. */
interface Segment {
  readonly number: number
  /** The largest number that was used, if it is on another branch. */
  readonly last?: number
  /** `seq` of the event that began it; 0 for the first, before its system prompt is stored. */
  readonly from: number
  /** The first model call whose entries it has, after a compaction. Earlier ones are in the log alone. */
  readonly keeps?: CallPlace
}

/** The number of the next segment. No branch uses the number of another one: it is part of a replay key. */
export function nextSegment({ segment: { number, from, last } }: Pick<AgentState, 'segment'>): number {
  return from === 0 && last === undefined ? 1 : Math.max(number, last ?? 0) + 1
}

export interface AgentTotals {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Of calls with a known price. */
  readonly cost: number
  /** Calls whose cost is unknown. */
  readonly unpriced: number
}

/** Texts that are equal for equal calls and equal results, such as hashes. */
export interface StallPair {
  readonly call: string
  readonly result: string
  readonly isError: boolean
}

export interface GoalLoop {
  readonly until: Until
  /** The input that asked for it. */
  readonly input: string
  readonly asker: Actor
  readonly maxTurns: number
  /** Turns that have ended. */
  readonly done: number
  /** What the last checks found. */
  readonly checks: readonly string[]
}

export const NO_NOTICES: NoticeBuffer = { kept: [], more: 0 }

export const NEW_AGENT: AgentState = {
  turns: 0,
  turn: null,
  inputs: [],
  notices: NO_NOTICES,
  head: 0,
  segment: { number: 1, from: 0 },
  totals: { inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 },
  stall: [],
  goal: null,
  reached: [],
}

/** Whether this registration is an agent that Reeve drives: its spec names a model. */
export function isNativeAgent({
  kind,
  spec,
}: {
  readonly kind: string
  readonly spec: { readonly [key: string]: Json }
}): boolean {
  return kind === 'agent' && typeof spec['model'] === 'string'
}

/** More alerts are in the log alone. */
export const MAX_RECENT_ALERTS = 16
export const MAX_RECENT_ALERT_CHARS = 300

export type Phase = 'idle' | 'running' | 'paused'

/** The column of the method table that an agent is in. */
export function phaseOf({ status, agent }: Pick<ProcessRecord, 'status' | 'agent'>): Phase {
  if (status === 'paused') return 'paused'
  return agent?.turn === null || agent?.turn === undefined ? 'idle' : 'running'
}

export function softLimitsOf({ spec }: Pick<ProcessRecord, 'spec'>): Amounts {
  const limits = spec['softLimits']
  return typeof limits === 'object' && limits !== null ? (limits as Amounts) : {}
}

/** The value of `toolCall` in the owner of everything that a tool call starts: unique over all agents of a session. */
export function toolCallName(pid: string, { turn, call, index }: ToolCallRef): string {
  return `${pid}.${turn}.${call}.${index}`
}
