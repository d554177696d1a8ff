import type { AgentFacts } from '../actions/agent-facts.ts'
import { messageOf } from '../base/error-text.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import type { AgentMcpServers } from './agent-servers.ts'

/** The slash commands of agents: the prompts of their MCP servers. */
export function commandReader(servers: Pick<AgentMcpServers, 'commandsFor'>): AgentFacts['commandsOf'] {
  return async (agent) => {
    const commands = await servers.commandsFor(agent)
    return commands.map(({ resolve, ...command }) => ({
      ...command,
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
}
