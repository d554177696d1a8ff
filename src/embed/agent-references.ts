import { realpath } from 'node:fs/promises'
import type { AgentFacts } from '../actions/agent-facts.ts'
import { messageOf } from '../base/error-text.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Reads the files that inputs refer to. */
export function referenceReader(kernel: () => Kernel): AgentFacts['readReference'] {
  return async (agent, reference) => {
    const { cwd } = agent
    if (cwd === null || isElsewhere(agent, kernel())) throw notHere(agent)
    const [{ readReferencedFile }, { ToolError }, { AgentRules }] = await Promise.all([
      import('../agent/tools/files/referenced-file.ts'),
      import('../agent/tools/agent-tool.ts'),
      import('../agent/toolbox/agent-rules.ts'),
    ])
    const { isNamed, refuse } = new AgentRules(kernel, agent.pid)
    try {
      const root = await realpath(cwd).catch(() => cwd)
      return await readReferencedFile({ root, isNamed, refuse }, reference)
    } catch (error) {
      if (error instanceof RefusedError) throw error
      const problem = error instanceof ToolError ? error.code : 'io_error'
      const refused = invalidRequest(agent, messageOf(error).replace(/\.$/, ''), REMEDY)
      throw new RefusedError({ ...refused, details: { problem, path: reference.path } })
    }
  }
}

/** Lists files for completions. A folder that the agent may not read, or that is not there, has none. */
export function fileCompleter(kernel: () => Kernel): AgentFacts['filesBeginning'] {
  return async (agent, begun) => {
    const { cwd } = agent
    if (cwd === null || isElsewhere(agent, kernel())) return []
    const [{ filesBeginning }, { AgentRules }] = await Promise.all([
      import('../agent/tools/files/files-beginning.ts'),
      import('../agent/toolbox/agent-rules.ts'),
    ])
    const { isNamed, readable, refuse } = new AgentRules(kernel, agent.pid)
    const root = await realpath(cwd).catch(() => cwd)
    return filesBeginning({ root, isNamed, readable, refuse }, begun).catch(() => [])
  }
}

const REMEDY = 'Refer to a file that the agent may read, or send its text as a paste.'

/** Where several machines share a store, the files of an agent are those of its machine. */
export function isElsewhere({ placement }: ProcessRecord, { host }: Pick<Kernel, 'host'>): boolean {
  return placement?.startsWith('host:') === true && placement !== `host:${host}`
}

function notHere(agent: ProcessRecord): RefusedError {
  return new RefusedError(
    invalidRequest(
      agent,
      'it has no workspace on this machine, so no file can be referred to',
      'Send the text of the file as a paste.',
    ),
  )
}
