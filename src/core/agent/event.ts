import type { Amounts, Counted } from '../allowance/amounts.ts'
import type { FileWrite } from '../files/file-write.ts'
import type { LeftFile } from '../files/plan-undo.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { MemoryNote } from '../memory/memory-note.ts'
import type { Effort } from '../model/prompt.ts'
import type { Actor } from '../process/record.ts'
import type { TurnRange } from './branch.ts'
import type { EarlierLog } from './earlier-logs.ts'
import type { ForkedFrom } from './fork.ts'
import type { GoalCheck, NextTurn } from './goal.ts'
import type { ProgramState } from './outside.ts'
import type { AgentAnswer, AgentRequest } from './request.ts'
import type { SessionRewound } from './rewind.ts'
import type {
  CallPlace,
  CallPurpose,
  InputMode,
  NoticeCause,
  OpenToolCall,
  Part,
  ToolCallRef,
  TurnCause,
  TurnReason,
  Until,
} from './state.ts'

/** The turn and the model call of an entry; `call` is 0 before the first call of a turn. */
interface InCall {
  readonly turn: number
  readonly call: number
}

/** A result that is in the log: what the model said in this call of the turn, as text or as JSON. */
export interface AnswerRef {
  readonly call: number
  readonly as: 'text' | 'json'
}

/** Bytes of the output log of a command. */
export interface ShownOutput {
  readonly pid: string
  readonly from: number
  readonly to: number
  /** The tool call started the command. */
  readonly isOwn?: true
}

export interface FilesPutBack {
  readonly turn: number
  readonly files: readonly FileWrite[]
  /** At the end of the work: the files that stay as they are, as far as they are named, and how many more there are. */
  readonly left?: readonly LeftFile[]
  readonly more?: number
}

export const ALERTS = [
  'stalled',
  'silent',
  'soft_limit',
  /** 80 % of a soft limit are used. */
  'near_limit',
  'compaction_without_effect',
  /** The limiter of the provider holds a call back. */
  'model_waits',
  /** The job that keeps long-term memory has failed, and changed nothing. */
  'memory_failed',
] as const
export type AlertKind = (typeof ALERTS)[number]

export const SYSTEM_ITEMS = ['note', 'repair', 'goal', 'context'] as const
/** `repair`: the answer did not fit. `goal`: the goal is not reached. `context`: changed sources of the system prompt. */
export type SystemItemKind = (typeof SYSTEM_ITEMS)[number]

/**
 * The session log of a native agent, as reserved events: no session can append one. A turn names the entry that it follows
 * (`follows`), and its entries follow each other; so the log is a tree of turns, and the head in the record names its branch.
 */
export type AgentEvent =
  /** The parts are here alone. `answer` is the receipt: a repeated request gets it again. */
  | {
      readonly type: 'input_admitted'
      readonly payload: {
        readonly input: string
        readonly mode: InputMode
        readonly parts: readonly Part[]
        readonly asker: Actor
        /** The JSON schema that the result must fit. */
        readonly schema?: JsonObject
        readonly until?: Until
        readonly maxTurns?: number
        readonly answer: AgentAnswer
      }
    }
  | {
      readonly type: 'input_edited'
      readonly payload: {
        readonly input: string
        readonly parts: readonly Part[]
        readonly answer: AgentAnswer
      }
    }
  | { readonly type: 'input_removed'; readonly payload: { readonly input: string } }
  | { readonly type: 'inputs_reordered'; readonly payload: { readonly inputs: readonly string[] } }
  /** A turn takes an input. `seq`: the event that has its parts. */
  | {
      readonly type: 'input_promoted'
      readonly payload: InCall & { readonly input: string; readonly seq: number }
    }
  | {
      readonly type: 'notice_buffered'
      readonly payload: {
        readonly notice: string
        readonly cause: NoticeCause
        readonly source: Actor
        readonly parts: readonly Part[]
        readonly answer: AgentAnswer
        /** The report of this member of a group. It waits for those of the others. */
        readonly seatOf?: string
        /** The group is complete: this notice is the head of its report, and those of its members follow. */
        readonly group?: string
      }
    }
  /** A turn takes the buffered notices. `more`: notices that were only counted. */
  | {
      readonly type: 'notices_promoted'
      readonly payload: InCall & { readonly seqs: readonly number[]; readonly more: number }
    }
  /** Any other accepted request, with its answer. */
  | {
      readonly type: 'agent_requested'
      readonly payload: { readonly request: AgentRequest; readonly answer: AgentAnswer }
    }
  | {
      readonly type: 'turn_begun'
      readonly payload: {
        readonly turn: number
        readonly cause: TurnCause
        readonly asker: Actor
        readonly input: string | null
        readonly follows: number
        readonly segment: number
        readonly hasSchema: boolean
        readonly interrupted: readonly ToolCallRef[]
        /** The turn that a limit ended before its first model call. This one answers its input. */
        readonly goesOnWith?: number
        /** Of a turn after a rewind: file changes behind this place are to be undone. */
        readonly undoSince?: number
      }
    }
  | {
      readonly type: 'model_call_begun'
      readonly payload: InCall & { readonly model: string; readonly purpose: CallPurpose }
    }
  /** The first fragment of thinking, text or a tool call. `from`: its offset in the live log. */
  | { readonly type: 'output_begun'; readonly payload: InCall & { readonly from?: number } }
  | {
      readonly type: 'assistant_item'
      readonly payload: InCall & {
        readonly model: string
        readonly parts: readonly Part[]
        /** More of the answer follows. */
        readonly goesOn?: true
      }
    }
  | {
      readonly type: 'tool_called'
      readonly payload: InCall &
        Omit<OpenToolCall, 'call'> & {
          readonly parts: readonly Part[]
          /** The provider has executed it: its result is an item of the same answer. */
          readonly isProviderExecuted?: true
          /** More of the answer follows. */
          readonly goesOn?: true
        }
    }
  | {
      readonly type: 'tool_answered'
      readonly payload: ToolCallRef & {
        readonly callId: string
        readonly parts: readonly Part[]
        readonly isError: boolean
        /** Reeve closed the call: whether the tool had an effect is unknown. */
        readonly interrupted?: true
        readonly pair?: { readonly call: string; readonly result: string }
        /** The output of a command that the result shows the end of. It is in the log of the command alone. */
        readonly output?: ShownOutput
        /** The files that the call has written. Their contents before are blobs. */
        readonly changes?: readonly FileWrite[]
        /** The call was stopped in the middle: whether it had an effect is unknown. */
        readonly unverified?: true
      }
    }
  | {
      readonly type: 'system_item'
      readonly payload: InCall & { readonly kind: SystemItemKind; readonly parts: readonly Part[] }
    }
  | {
      readonly type: 'model_used'
      readonly payload: InCall & {
        readonly model: string
        readonly inputTokens: number
        readonly cachedInputTokens: number
        readonly outputTokens: number
        /** Null: the model has no known price. */
        readonly cost: number | null
        readonly isEstimate: boolean
        /** Of the job that keeps long-term memory: the call belongs to no turn. */
        readonly memory?: true
      }
    }
  /** The call ended without an answer. `from` and `shown`: which bytes of the live log have its output. */
  | {
      readonly type: 'model_call_cut'
      readonly payload: InCall & { readonly why: string; readonly from?: number; readonly shown?: number }
    }
  | {
      readonly type: 'model_call_retried'
      readonly payload: InCall & {
        readonly failure: string
        readonly retryAt: number
        readonly progress: Json
      }
    }
  | {
      readonly type: 'agent_configured'
      readonly payload: { readonly model: string; readonly effort?: Effort }
    }
  /** It continues the session of another agent, the last of these. Places of `segment` are those of the whole session. */
  | {
      readonly type: 'session_continued'
      readonly payload: {
        readonly earlier: readonly EarlierLog[]
        readonly turns: number
        readonly segment: { readonly number: number; readonly from: number }
        /** Of a fork, and of an agent that goes on with the session of one: where it branches. */
        readonly fork?: ForkedFrom
        /** Where the session goes on. Absent: at the end of the last log. */
        readonly head?: number
        /** The turns of its branch, if it was rewound. */
        readonly branch?: readonly TurnRange[]
      }
    }
  /** The head has moved to an earlier turn, or to the end of another branch. */
  | { readonly type: 'session_rewound'; readonly payload: SessionRewound }
  /** A new system prompt, or a shorter history. `origin` has its sources. */
  | {
      readonly type: 'segment_begun'
      readonly payload: InCall & {
        readonly segment: number
        readonly why: 'context' | 'compaction'
        readonly origin: { readonly segment: number; readonly head: number }
        /** The first entry that is kept as it is, besides `parts`; null if none is. */
        readonly keepsFrom: number | null
        /** Of a compaction: the first model call whose entries are kept. */
        readonly keeps?: CallPlace
        readonly parts: readonly Part[]
      }
    }
  | {
      readonly type: 'agent_alerted'
      readonly payload: {
        readonly turn: number
        readonly alert: AlertKind
        readonly message: string
        readonly limit?: Counted
      }
    }
  | { readonly type: 'agent_allowed'; readonly payload: { readonly amounts: Amounts } }
  | {
      readonly type: 'turn_ended'
      readonly payload: {
        readonly turn: number
        readonly reason: TurnReason
        readonly calls: number
        /** Null if `answer` says where it is. */
        readonly result: Json
        readonly answer?: AnswerRef
        readonly message?: string
        /** Of a goal loop: whether the goal was reached, and the findings of the check. */
        readonly check?: GoalCheck
        readonly goal?: NextTurn
      }
    }
  /** Of an outside agent: how far the conversation with its program is. */
  | { readonly type: 'program_noted'; readonly payload: { readonly program: ProgramState } }
  /** Of the job that keeps long-term memory. */
  | { readonly type: 'memory_noted'; readonly payload: { readonly note: MemoryNote } }
  /** Files were put back after a rewind. It is recorded when the file is written, also if the turn was cancelled meanwhile. */
  | { readonly type: 'files_put_back'; readonly payload: FilesPutBack }
  /** Trouble of the actor itself. It ends nothing. */
  | {
      readonly type: 'agent_failed'
      readonly payload: { readonly turn: number; readonly code: string; readonly message: string }
    }
  /** It waits for input, in no program's memory. `holder` gave its lease back; null if it had none. */
  | {
      readonly type: 'agent_idled'
      readonly payload: { readonly turns: number; readonly holder: string | null }
    }

export const AGENT_EVENTS = [
  'input_admitted',
  'input_edited',
  'input_removed',
  'inputs_reordered',
  'input_promoted',
  'notice_buffered',
  'notices_promoted',
  'agent_requested',
  'turn_begun',
  'model_call_begun',
  'output_begun',
  'assistant_item',
  'tool_called',
  'tool_answered',
  'system_item',
  'model_used',
  'model_call_cut',
  'model_call_retried',
  'agent_configured',
  'session_continued',
  'session_rewound',
  'segment_begun',
  'agent_alerted',
  'agent_allowed',
  'turn_ended',
  'program_noted',
  'memory_noted',
  'files_put_back',
  'agent_failed',
  'agent_idled',
] as const satisfies readonly AgentEvent['type'][]

/** The entries that a reader of the session sees. They move the head. */
export const ENTRY_EVENTS = [
  'turn_begun',
  'input_promoted',
  'notices_promoted',
  'assistant_item',
  'tool_called',
  'tool_answered',
  'system_item',
  'model_call_cut',
  'segment_begun',
  'turn_ended',
] as const satisfies readonly AgentEvent['type'][]

const ENTRIES: ReadonlySet<string> = new Set(ENTRY_EVENTS)

export function isEntry(type: string): boolean {
  return ENTRIES.has(type)
}

const AGENT_EVENT_TYPES: ReadonlySet<string> = new Set(AGENT_EVENTS)

export function isAgentEvent<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: AgentEvent['type'] }> {
  return AGENT_EVENT_TYPES.has(event.type)
}
