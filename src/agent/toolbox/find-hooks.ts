import { type Hook, hooksIn } from '../../core/agent/hooks.ts'
import type { AgentFile } from '../../core/agent-file/agent-file.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import type { Edges } from '../../kernel/edges.ts'
import { isFileTrusted } from '../../kernel/file-trust.ts'

export interface FoundHooks {
  readonly hooks: readonly Hook[]
  /** Files whose hooks do not run. */
  readonly inert: readonly AgentFile[]
}

/** The hooks of an agent: those of its spec, and those of trusted files near its folder. */
export async function findHooks(edges: Edges, agent: ProcessRecord): Promise<FoundHooks> {
  const files = (await edges.agentFiles?.find(agent.cwd, 'hooks')) ?? []
  const hooks = [...hooksIn(startSpecOf(agent)['hooks'])]
  const inert: AgentFile[] = []
  for (const file of files) {
    if (file.content?.kind === 'hooks' && (await isFileTrusted(edges, file)))
      hooks.push(...file.content.hooks)
    else inert.push(file)
  }
  return { hooks, inert }
}
