import type { ProcessRecord } from '../process/record.ts'
import { hasEnded } from '../process/record.ts'
import { type CallPurpose, type OpenToolCall, phaseOf, type ToolCallRef } from './state.ts'

/** The next step of an agent's executor. The executor asks after every act, and after a crash: it keeps no other state. */
export type AgentStep =
  | { readonly type: 'none'; readonly why: 'ended' | 'paused' | 'stopping' }
  | { readonly type: 'go_idle' }
  /** A call of an earlier holder has no answer: it is cut, charged as an estimate, and the model is called again. */
  | { readonly type: 'cut_call'; readonly turn: number; readonly call: number }
  | { readonly type: 'run_tools'; readonly turn: number; readonly tools: readonly OpenToolCall[] }
  | {
      readonly type: 'call_model'
      readonly turn: number
      readonly call: number
      readonly purpose: CallPurpose
      /** Processes of closed tool calls that may still run. */
      readonly interruptFirst: readonly ToolCallRef[]
    }
  /** The files that the agent has changed behind this place are put back. */
  | { readonly type: 'undo_files'; readonly turn: number; readonly since: number }
  /** The model has answered. If a goal is set, the goal is checked first. */
  | { readonly type: 'end_turn'; readonly turn: number; readonly checksGoal: boolean }

/** `ownCall`: the model call that this executor has under way. */
export function nextStep(record: ProcessRecord, ownCall: number | null = null): AgentStep | null {
  const { agent } = record
  if (agent === null) return null
  if (hasEnded(record)) return { type: 'none', why: 'ended' }
  if (record.stopRequest !== null) return { type: 'none', why: 'stopping' }
  const { turn } = agent
  if (phaseOf(record) === 'paused') return { type: 'none', why: 'paused' }
  if (turn === null) return { type: 'go_idle' }
  const { number, call, tools, calls, expects, cause, interrupted, undoSince } = turn
  if (call !== null)
    return call.number === ownCall ? null : { type: 'cut_call', turn: number, call: call.number }
  if (undoSince !== undefined) return { type: 'undo_files', turn: number, since: undoSince }
  if (tools.length > 0) return { type: 'run_tools', turn: number, tools }
  const joins = agent.inputs.some(({ mode }) => mode === 'steer') || agent.notices.kept.length > 0
  if (expects === 'end' && !joins) return { type: 'end_turn', turn: number, checksGoal: agent.goal !== null }
  const purpose = cause === 'compact' && expects === 'model' ? 'compaction' : 'answer'
  return { type: 'call_model', turn: number, call: calls + 1, purpose, interruptFirst: interrupted }
}
