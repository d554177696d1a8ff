import { AgentToolbox } from '../agent/toolbox/agent-toolbox.ts'
import type { Toolbox, ToolboxParts } from '../agent/toolbox/toolbox.ts'
import type { Executor } from '../kernel/executor.ts'

/** Makes the executor of agents, which uses the toolbox. */
export type AgentDriver = (toolbox: Toolbox) => Executor

export function openToolbox(parts: ToolboxParts): AgentToolbox {
  return new AgentToolbox(parts)
}
