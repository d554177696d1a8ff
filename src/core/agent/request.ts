import type { Amounts, Counted } from '../allowance/amounts.ts'
import type { JsonObject } from '../json/json.ts'
import type { MemoryNote } from '../memory/memory-note.ts'
import type { Effort } from '../model/prompt.ts'
import type { RemovedInput, RewindTo, Undone } from './rewind.ts'
import type { InputMode, NoticeCause, Part, ToolCallRef, Until } from './state.ts'

/**
 * A method of an agent. `id` is the caller's: a repeated request gets the answer of the first one. That of `run` is the id of its
 * input.
 */
export type AgentRequest = RunRequest | NotifyRequest | EditInputRequest | NoteMemoryRequest | PlainRequest

/** The requests that are stored whole beside their answer. */
export type PlainRequest =
  | { readonly type: 'resume'; readonly id: string }
  /** `dropQueued`: the inputs that wait are removed, too. */
  | { readonly type: 'cancel_turn'; readonly id: string; readonly dropQueued?: boolean }
  | { readonly type: 'pause'; readonly id: string }
  | { readonly type: 'compact'; readonly id: string; readonly expectedHead?: number }
  | RewindRequest
  | { readonly type: 'shutdown'; readonly id: string; readonly reason?: string }
  | { readonly type: 'remove_input'; readonly id: string; readonly input: string }
  | { readonly type: 'reorder_inputs'; readonly id: string; readonly inputs: readonly string[] }
  | { readonly type: 'configure'; readonly id: string; readonly model: string; readonly effort?: Effort }
  /** The kernel has raised its allowance in the same transaction. */
  | { readonly type: 'allow'; readonly id: string; readonly amounts: Amounts }
  /** From the kernel: a charge has exceeded this limit. */
  | { readonly type: 'exceed_limit'; readonly id: string; readonly limit: Counted }

export interface RunRequest {
  readonly type: 'run'
  readonly id: string
  readonly mode: InputMode
  readonly parts: readonly Part[]
  readonly expectedHead?: number
  /** The JSON schema that the result must fit. */
  readonly schema?: JsonObject
  /** Turns are repeated until this holds. */
  readonly until?: Until
  readonly maxTurns?: number
}

export interface RewindRequest {
  readonly type: 'rewind'
  readonly id: string
  readonly to: RewindTo
  /** Of the branch that it leaves. */
  readonly label?: string
  /** Files that file tools have changed since then are put back. */
  readonly undoFiles?: boolean
  readonly expectedHead?: number
}

export interface NotifyRequest {
  readonly type: 'notify'
  readonly id: string
  readonly cause: NoticeCause
  readonly parts: readonly Part[]
}

export interface EditInputRequest {
  readonly type: 'edit_input'
  readonly id: string
  readonly input: string
  readonly parts: readonly Part[]
}

/** From the kernel, for the job that keeps its long-term memory. */
export interface NoteMemoryRequest {
  readonly type: 'note_memory'
  readonly id: string
  readonly note: MemoryNote
}

export type AgentAnswer =
  | {
      readonly type: 'started'
      readonly input: string
      readonly turn: number
      /** Tool calls of a paused turn that were closed: their processes are interrupted. */
      readonly interrupts: readonly ToolCallRef[]
    }
  | {
      readonly type: 'admitted'
      readonly input: string
      readonly mode: Exclude<InputMode, 'run'>
      /** Its position among the waiting inputs, from 1. */
      readonly place: number
    }
  | { readonly type: 'resumed'; readonly turn: number }
  | TurnStopped
  | { readonly type: 'paused'; readonly turn: number }
  | { readonly type: 'already_paused' }
  /** `turn`: the turn that it began; null if it waits for the next model call. */
  | {
      readonly type: 'buffered'
      readonly notice: string
      readonly turn: number | null
      /** The buffer is full: the notice is counted, and only the log has it. */
      readonly isCounted: boolean
    }
  | { readonly type: 'compacting'; readonly turn: number }
  | Rewound
  /** `exited`: it has ended. `stopping`: its executor ends it. */
  | { readonly type: 'exited' | 'stopping'; readonly interrupts: readonly ToolCallRef[] }
  | { readonly type: 'edited' | 'removed'; readonly input: string }
  | { readonly type: 'reordered'; readonly inputs: readonly string[] }
  | { readonly type: 'configured'; readonly model: string; readonly effort?: Effort }
  /** `turn`: the waiting input goes on in this turn; null if none waits, or the agent is not idle. */
  | { readonly type: 'allowed'; readonly turn: number | null }
  | { readonly type: 'limited'; readonly turn: number }

interface Rewound {
  readonly type: 'rewound'
  /** The head before and after it. */
  readonly from: number
  readonly head: number
  /** The last turn of the branch that it left, and of the current one. */
  readonly left: number | null
  readonly last: number | null
  /** The turn that puts files back; null if none was asked for. */
  readonly turn: number | null
  readonly undone: Undone
  readonly removed: RemovedInput | null
}

interface TurnStopped {
  readonly type: 'cancelled' | 'rolled_back'
  readonly turn: number
  /** Of a roll-back: the inputs that no prompt will have, for editing. */
  readonly returned: readonly string[]
  /** Inputs that still wait. */
  readonly queued: readonly string[]
  /** Inputs that were removed on request. */
  readonly dropped: readonly string[]
  /** The turn that goes on with the next input. */
  readonly next: number | null
  readonly interrupts: readonly ToolCallRef[]
}

/** The replay key of a request. */
export function requestKey(request: Pick<AgentRequest, 'type' | 'id'>): string {
  if (request.type === 'run') return inputKey(request.id)
  if (request.type === 'note_memory') return `memory:${request.id}`
  return request.type === 'notify' ? `notice:${request.id}` : `request:${request.id}`
}

export function inputKey(id: string): string {
  return `input:${id}`
}
