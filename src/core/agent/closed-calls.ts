import type { ProcessRecord } from '../process/record.ts'
import { type AgentState, toolCallName } from './state.ts'

/** Whether a turn has ended that had tool calls without a result: their processes may still run. */
export function closesCalls(before: AgentState | null, now: AgentState | null): boolean {
  const turn = before?.turn ?? null
  return turn !== null && turn.tools.length > 0 && now?.turn?.number !== turn.number
}

/** Whether a process belongs to a tool call of this agent that is not open any more. */
export function isOfClosedCall(agent: ProcessRecord, { owner }: Pick<ProcessRecord, 'owner'>): boolean {
  const { toolCall } = owner
  if (toolCall === undefined || !toolCall.startsWith(`${agent.pid}.`)) return false
  const turn = agent.agent?.turn ?? null
  return (
    turn === null ||
    !turn.tools.some((open) => toolCallName(agent.pid, { ...open, turn: turn.number }) === toolCall)
  )
}
