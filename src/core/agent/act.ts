import type { Json } from '../json/json.ts'
import type { AgentEvent, AlertKind, AnswerRef, FilesPutBack, SystemItemKind } from './event.ts'
import type { GoalCheck } from './goal.ts'
import type { ProgramState } from './outside.ts'
import type { CallPlace, CallPurpose, Part, TurnReason } from './state.ts'

type PayloadOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>['payload']

/** An item of a model's answer, in the order of the answer. */
export type AnswerItem =
  | { readonly type: 'item'; readonly parts: readonly Part[] }
  | {
      readonly type: 'tool_call'
      readonly callId: string
      readonly tool: string
      readonly parts: readonly Part[]
      /** The provider has executed it: its result is an item of the same answer. */
      readonly isProviderExecuted?: boolean
    }

/**
 * An act of an agent's executor. Each act names its turn, and acts about a model call name that call: an executor that was slower than
 * a cancel writes nothing into the next turn.
 */
export type AgentAct = TurnAct | NoteProgram | { readonly type: 'go_idle' }

/** Which number of the state is that of this event: the program gets a write under it. */
type NumberedWrite = 'prompt' | 'sent'

/** Of an outside agent: how far the conversation with its program is. Also after the end of the turn. */
type NoteProgram = {
  readonly type: 'note_program'
  readonly program: ProgramState
  readonly numbers?: NumberedWrite
  readonly key: string
}

/** A step of an outside agent, in the order in which its program reported them. */
export type UpdateStep =
  | { readonly type: 'item'; readonly parts: readonly Part[] }
  | {
      readonly type: 'tool_call'
      readonly index: number
      readonly callId: string
      readonly tool: string
      readonly parts: readonly Part[]
    }
  | {
      readonly type: 'result'
      readonly callId: string
      readonly parts: readonly Part[]
      readonly isError: boolean
    }
  /** Another answer of its model begins. */
  | { readonly type: 'next_call' }
  | { readonly type: 'cut'; readonly why: string }

export type TurnAct =
  /** Takes the waiting steering inputs and notices first. */
  | {
      readonly type: 'begin_call'
      readonly turn: number
      readonly call: number
      readonly model: string
      readonly purpose?: CallPurpose
      /** The provider interrupted its own answer: nothing new is said to the model. */
      readonly continues?: boolean
    }
  /** `from`: where the output of the call begins in the live log. */
  | {
      readonly type: 'begin_output'
      readonly turn: number
      readonly call: number
      readonly from?: number
    }
  /** Closes the call. */
  | {
      readonly type: 'record_answer'
      readonly turn: number
      readonly call: number
      readonly model: string
      readonly items: readonly AnswerItem[]
      /** For the model, if the answer asks for no tool: its answer was cut, and it goes on. */
      readonly note?: string
    }
  /** Of an outside agent: the call goes on, unless this `closes` it or ends the turn. */
  | {
      readonly type: 'record_updates'
      readonly turn: number
      readonly model: string
      readonly steps: readonly UpdateStep[]
      readonly program: ProgramState
      readonly numbers?: NumberedWrite
      readonly closes?: boolean
      readonly ends?: { readonly reason: EndReason; readonly message: string }
      readonly key: string
    }
  | ({ readonly type: 'record_result' } & Omit<PayloadOf<'tool_answered'>, 'callId' | 'interrupted'>)
  | ({ readonly type: 'record_usage' } & PayloadOf<'model_used'>)
  /** The same key is written once. */
  | ({ readonly type: 'put_back'; readonly key: string } & FilesPutBack)
  /** The call ends without an answer; the next one has another number. */
  | ({ readonly type: 'cut_call' } & Omit<PayloadOf<'model_call_cut'>, 'from'>)
  /** The same call is sent again. */
  | ({ readonly type: 'retry_call' } & PayloadOf<'model_call_retried'>)
  | {
      readonly type: 'add_system_item'
      readonly turn: number
      readonly kind: SystemItemKind
      readonly parts: readonly Part[]
      /** The same key is one item. */
      readonly key: string
    }
  | {
      readonly type: 'begin_segment'
      readonly turn: number
      readonly segment: number
      readonly why: 'context' | 'compaction'
      readonly keepsFrom: number | null
      readonly keeps?: CallPlace
      readonly parts: readonly Part[]
    }
  | {
      readonly type: 'alert'
      readonly turn: number
      readonly alert: Exclude<AlertKind, 'stalled' | 'soft_limit' | 'near_limit'>
      readonly message: string
      readonly key: string
    }
  | {
      readonly type: 'report_trouble'
      readonly turn: number
      readonly code: string
      readonly message: string
      readonly key: string
    }
  | {
      readonly type: 'end_turn'
      readonly turn: number
      readonly reason: EndReason
      readonly result?: Json
      /** Where the log has the result: the end of the turn does not repeat it. */
      readonly answer?: AnswerRef
      readonly message?: string
      /** Of a turn with a schema that finished: the result fits it. */
      readonly fitsSchema?: boolean
      readonly check?: GoalCheck
    }

/** Cancelled, rolled back and paused turns end by a request. `crashed`: the program of an outside agent; else recovery says it. */
export type EndReason = Exclude<TurnReason, 'cancelled' | 'rolled_back' | 'paused'>

/** The replay key of an act; null if its position in the turn makes it unique. */
export function actKey(act: AgentAct): string | null {
  switch (act.type) {
    case 'begin_call':
      return callKey(act)
    case 'begin_output':
      return `output:${act.turn}.${act.call}`
    case 'record_answer':
      return answerKey(act)
    case 'record_result':
      return toolAnsweredKey(act)
    case 'record_usage':
      return usageKey(act)
    case 'cut_call':
      return cutKey(act)
    case 'add_system_item':
    case 'alert':
    case 'report_trouble':
      return `${act.type}:${act.turn}:${act.key}`
    case 'note_program':
    case 'record_updates':
      return `program:${act.key}`
    case 'put_back':
      return `put_back:${act.turn}:${act.key}`
    case 'begin_segment':
      return `segment:${act.segment}`
    case 'end_turn':
      return turnEndedKey(act.turn)
    case 'retry_call':
    case 'go_idle':
      return null
  }
}

export function callKey({ turn, call }: { readonly turn: number; readonly call: number }): string {
  return `call:${turn}.${call}`
}

export function answerKey({ turn, call }: { readonly turn: number; readonly call: number }): string {
  return `answer:${turn}.${call}`
}

export function toolAnsweredKey(ref: {
  readonly turn: number
  readonly call: number
  readonly index: number
}): string {
  return `result:${ref.turn}.${ref.call}.${ref.index}`
}

export function cutKey({ turn, call }: { readonly turn: number; readonly call: number }): string {
  return `cut:${turn}.${call}`
}

export function usageKey({ turn, call }: { readonly turn: number; readonly call: number }): string {
  return `usage:${turn}.${call}`
}

export function turnEndedKey(turn: number): string {
  return `turn:${turn}:ended`
}
