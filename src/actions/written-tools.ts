import { notAnAgent } from '../core/agent/refusals.ts'
import { isNativeAgent } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { unknownTool } from '../core/tool/written-tool.ts'
import { revokeTool, toolsOf, type VisibleTool, visibleTools } from '../kernel/written-tools.ts'
import { type ActionParts, type ActionsFor, permitOnProcess, readerFor } from './action.ts'
import { unlessRefused } from './rule-owners.ts'

/** Tools that agents have written. */
export function writtenToolActions(parts: ActionParts): ActionsFor<'writtenTools' | 'revokeTool'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const toolsFor = async (text: string): Promise<readonly VisibleTool[]> => {
    const agent = await readerFor(parts)(text)
    refuseOther(agent)
    const revoked = (await toolsOf(edges, agent.pid)).filter((one) => one.revoked !== null)
    return [...(await visibleTools(edges, agent)), ...revoked]
  }
  return {
    async writtenTools({ pid, name }) {
      const tools = await toolsFor(pid)
      const found = name === undefined ? tools : tools.filter(({ tool }) => tool.name === name)
      if (name !== undefined && found.length === 0) throw new RefusedError(unknownTool(pid, name))
      return {
        tools: found.map(({ tool: { source, ...shown }, ...version }) => ({
          ...shown,
          ...(name === undefined ? {} : { source }),
          ...version,
        })),
      }
    },
    async revokeTool({ pid, name, reason = null }) {
      const agent = await readerFor(parts, 'revokeTool')(pid)
      await permitOnProcess(parts, 'revokeTool', 'write', agent)
      refuseOther(agent)
      const { tool, ...version } = unlessRefused(await revokeTool(edges, agent.pid, name, { actor, reason }))
      return { name: tool.name, ...version, owner: agent.pid }
    },
  }
}

function refuseOther(record: ProcessRecord): void {
  if (!isNativeAgent(record)) throw new RefusedError(notAnAgent(record))
}
