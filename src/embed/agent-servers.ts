import type { AgentServers } from '../agent/agent-parts.ts'
import type { McpServers } from '../agent/mcp/mcp-servers.ts'
import type { AgentTool } from '../agent/tools/agent-tool.ts'
import type { NamedSecrets } from '../command/environment/named-secrets.ts'
import { agentSessionOf } from '../core/agent/session.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { specOf, startSpecOf } from '../core/process/spec.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

interface ServersParts {
  readonly actAs: (actor: Actor) => ReeveVerbs
  readonly secrets: NamedSecrets
  /** Opens the session of an agent, which its servers belong to. */
  readonly openSession: (agent: ProcessRecord) => Promise<unknown>
}

/** The MCP servers of agents. Their client is loaded when the first agent that has servers runs. */
export class AgentMcpServers implements AgentServers {
  readonly #parts: ServersParts
  #loading: Promise<McpServers> | undefined
  #loaded: McpServers | undefined

  constructor(parts: ServersParts) {
    this.#parts = parts
  }

  readonly toolsFor = async (agent: ProcessRecord): Promise<readonly AgentTool[]> => {
    const { mcpServers = {} } = specOf({ kind: agent.kind, spec: startSpecOf(agent) }, 'agent')
    if (Object.keys(mcpServers).length === 0) return []
    await this.#parts.openSession(agent)
    this.#loading ??= this.#load()
    return (await this.#loading).toolsFor(agent)
  }

  takeAlerts(agent: string): ReturnType<AgentServers['takeAlerts']> {
    return this.#loaded?.takeAlerts(agent) ?? []
  }

  release(agent: string): void {
    this.#loaded?.release(agent)
  }

  async close(): Promise<void> {
    await this.#loaded?.close()
  }

  async #load(): Promise<McpServers> {
    const { actAs, secrets } = this.#parts
    const { openMcpServers } = await import('../agent/mcp/mcp-servers.ts')
    this.#loaded = openMcpServers({
      verbsOf: ({ pid }) => actAs(`process:${pid}`),
      ownerOf: ({ pid }) => ({ session: agentSessionOf(pid) }),
      secrets: (values) => secrets.variablesOf({ variables: values, policy: {}, options: {} }),
    })
    return this.#loaded
  }
}
