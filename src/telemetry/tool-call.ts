import type { ToolCallRef } from '../core/agent/state.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Value } from './otlp.ts'

/** The tool call that a child of an agent belongs to; undefined for other processes. */
export function toolCallOf({
  parent,
  owner,
}: Pick<ProcessRecord, 'parent' | 'owner'>): ToolCallRef | undefined {
  const [, agent, turn, call, index] = /^(.+)\.(\d+)\.(\d+)\.(\d+)$/.exec(owner.toolCall ?? '') ?? []
  // Processes that the call starts have the same owner, and another parent.
  if (agent === undefined || agent !== parent) return undefined
  return { turn: Number(turn), call: Number(call), index: Number(index) }
}

export function toolAttributes(
  agent: string,
  tool: string,
  { turn, call, index }: ToolCallRef,
): Readonly<Record<string, Value>> {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.conversation.id': agent,
    'reeve.turn': turn,
    'reeve.call': call,
    'reeve.tool.index': index,
  }
}
