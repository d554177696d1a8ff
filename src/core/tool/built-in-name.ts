import type { ProcessRecord } from '../process/record.ts'

/** The name of a built-in tool as a process: no tool of a program has a dot in its name. */
const BUILT_IN = 'agent.'

export function processToolOf(name: string): string {
  return `${BUILT_IN}${name}`
}

/** The name that models use; null if it is no built-in tool. */
export function builtInName(tool: unknown): string | null {
  return typeof tool === 'string' && tool.startsWith(BUILT_IN) ? tool.slice(BUILT_IN.length) : null
}

export function isProcessTool(tool: unknown): boolean {
  return builtInName(tool) !== null
}

/** The tool that runs a script, also that of a written tool, and the one by which an agent proposes a tool. A script calls neither. */
export const SCRIPT = 'script'
export const PROPOSE_TOOL = 'propose_tool'

/** Whether it runs code that an agent has written: its calls are children of it. */
export function isScript({ kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>): boolean {
  return kind === 'tool' && spec['tool'] === processToolOf(SCRIPT)
}

/**
 * Tools whose last results are the memory of an agent: its plan, the tools that it has found, and how often it read each file of
 * long-term memory.
 */
export const REMEMBERED_TOOLS: ReadonlySet<string> = new Set(
  ['plan', 'tool_search', 'memory_read'].map(processToolOf),
)
