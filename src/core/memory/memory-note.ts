import type { Amounts } from '../allowance/amounts.ts'
import type { Pid } from '../process/pid.ts'

/** The use of one model call of the job that keeps memory. */
export interface MemoryUse {
  readonly model: string
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
  /** Null: the model has no known price. */
  readonly cost: number | null
  readonly isEstimate: boolean
}

/** What the job that keeps memory notes in the log of its agent. */
export type MemoryNote =
  /** `estimate` is charged if the program is killed during the call. */
  | { readonly type: 'call_begun'; readonly job: Pid; readonly call: string; readonly estimate: MemoryUse }
  /** `use` null: the call failed before the model used anything. */
  | { readonly type: 'call_ended'; readonly job: Pid; readonly call: string; readonly use: MemoryUse | null }
  /** The session up to `through` is in memory. `files` are those that it changed. */
  | {
      readonly type: 'updated'
      readonly job: Pid
      readonly through: number
      readonly files: readonly string[]
    }
  | { readonly type: 'failed'; readonly job: Pid; readonly message: string }

/** How far memory has come. */
export interface AgentMemory {
  /** `seq` of the last event of the session that a job has read. */
  readonly through: number
  /** The model call that is under way, with its estimate. */
  readonly call?: { readonly id: string; readonly estimate: MemoryUse }
}

export const NO_MEMORY: AgentMemory = { through: 0 }

/** The memory of an agent after a note. */
export function noted({ call, through }: AgentMemory, note: MemoryNote): AgentMemory {
  switch (note.type) {
    case 'call_begun':
      return { through, call: { id: note.call, estimate: note.estimate } }
    case 'call_ended':
      return { through }
    case 'updated':
      return { through: Math.max(through, note.through) }
    case 'failed':
      return { through, ...(call === undefined ? {} : { call }) }
  }
}

/** The uses that a note adds to those of the agent. A call that is open when another one begins, or the job is done, was lost with its program. */
export function usesOf({ call }: AgentMemory, note: MemoryNote): readonly MemoryUse[] {
  switch (note.type) {
    case 'call_begun':
    case 'updated':
      return call === undefined ? [] : [call.estimate]
    case 'call_ended':
      return note.use === null ? [] : [note.use]
    case 'failed':
      return []
  }
}

/** Whether a note is about a call that was taken for lost, and charged: another call has begun since, or the job is done. */
export function isOfLostCall({ call }: AgentMemory, note: MemoryNote): boolean {
  return note.type === 'call_ended' && call?.id !== note.call
}

/** What a use takes from the allowance of the agent. */
export function chargeOf({ inputTokens, outputTokens, cost }: MemoryUse): Amounts {
  const counted = { modelCalls: 1, tokensIn: inputTokens, tokensOut: outputTokens }
  return cost === null ? counted : { ...counted, cost }
}
