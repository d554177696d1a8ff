import type { AgentCommand, AgentFacts } from '../actions/agent-facts.ts'
import { messageOf } from '../base/error-text.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { AgentMcpServers } from './agent-servers.ts'
import { workspaceCommands } from './workspace-commands.ts'

/** The slash commands of agents: files and skills of their workspaces and of the home, and the prompts of their MCP servers. */
export function commandReader(
  kernel: () => Kernel,
  servers: Pick<AgentMcpServers, 'commandsFor'>,
): AgentFacts['commandsOf'] {
  return async (agent) => {
    const [ofFiles, ofServers] = await Promise.all([
      workspaceCommands(kernel(), agent),
      serverCommands(servers, agent),
    ])
    const names = new Set(ofServers.map(({ name }) => name))
    // A file that counts is nearer than a server; an inert one hides nothing.
    const shown = ofFiles.filter(({ name, isInert }) => !isInert || !names.has(name))
    return [...shown, ...ofServers]
  }
}

async function serverCommands(
  servers: Pick<AgentMcpServers, 'commandsFor'>,
  agent: ProcessRecord,
): Promise<readonly AgentCommand[]> {
  const commands = await servers.commandsFor(agent)
  return commands.map(({ resolve, ...command }) => ({
    ...command,
    isInert: false,
    async resolve(text) {
      try {
        return await resolve(text)
      } catch (error) {
        const { name, arguments: names } = command
        const why = messageOf(error).replace(/\.$/, '')
        const remedy = `Correct its arguments (${names.join(', ') || 'none'}), or send the text itself.`
        const refused = invalidRequest(agent, `the command /${name} failed: ${why}`, remedy)
        throw new RefusedError({ ...refused, details: { problem: 'command_failed', command: name } })
      }
    },
  }))
}
