import type { AgentServers } from '../agent/agent-parts.ts'
import type { McpServers, ServerCommand } from '../agent/mcp/mcp-servers.ts'
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
    const servers = await this.#serversOf(agent)
    return (await servers?.toolsFor(agent)) ?? []
  }

  /** The prompts of its servers, as slash commands. */
  readonly commandsFor = async (agent: ProcessRecord): Promise<readonly ServerCommand[]> => {
    const servers = await this.#serversOf(agent)
    return (await servers?.commandsFor(agent)) ?? []
  }

  /** Null for an agent without servers: it need not load the client. */
  async #serversOf(agent: ProcessRecord): Promise<McpServers | null> {
    const { mcpServers = {} } = specOf({ kind: agent.kind, spec: startSpecOf(agent) }, 'agent')
    if (Object.keys(mcpServers).length === 0) return null
    await this.#parts.openSession(agent)
    this.#loading ??= this.#load()
    return this.#loading
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
