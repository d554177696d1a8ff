import { BoundedMap } from '../../base/bounded-map.ts'
import { messageOf } from '../../base/error-text.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import { refuseMcpSecrets } from '../../core/agent/mcp-secrets.ts'
import { type Need, NO_ATTRIBUTES } from '../../core/capability/need.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Owner, ProcessRecord } from '../../core/process/record.ts'
import type { McpServerSpec, SecretOrText } from '../../core/process/spec.ts'
import { specOf, startSpecOf } from '../../core/process/spec.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { isJsonObject } from '../kept-rpc/rpc-message.ts'
import { type AgentTool, type OutputPart, ToolError, type ToolErrorCode } from '../tools/agent-tool.ts'
import { callOutput } from './call-output.ts'
import { McpFailure, type McpFailureCode } from './mcp-failure.ts'
import { type McpAlertCode, ServerSession } from './server-session.ts'
import { agentToolName, type ToolDefinition } from './tool-definition.ts'

/** The MCP servers of native agents. */
export interface McpServers {
  /** The tools of the agent's servers; a server that does not answer gives none, and an alert. */
  toolsFor(agent: ProcessRecord): Promise<readonly AgentTool[]>
  /** The prompts of the agent's servers as slash commands; a server that does not answer has none. */
  commandsFor(agent: ProcessRecord): Promise<readonly ServerCommand[]>
  /** The alerts about the servers of an agent since the last call. */
  takeAlerts(agent: Pid): readonly McpAlert[]
  /** Lets go of the servers of an agent that is idle or has ended. Those that are commands live as long as the agent. */
  release(agent: Pid): void
  close(): Promise<void>
}

/** A problem that a person should know about, and that ends nothing. `key`: the same key is one alert. */
export interface McpAlert {
  readonly code: McpAlertCode
  readonly server: string
  readonly message: string
  readonly key: string
}

/** A prompt of a server as a slash command. */
export interface ServerCommand {
  readonly name: string
  readonly description: string
  /** The server: `mcp:notes`. */
  readonly source: string
  /** The names of its arguments, in their order. */
  readonly arguments: readonly string[]
  /** Its content for these arguments. Throws an `McpFailure`. */
  resolve(text: string): Promise<readonly OutputPart[]>
}

export interface McpParts {
  /** Acts as the agent, under the same rules as everything that the agent does. */
  readonly verbsOf: (agent: ProcessRecord) => ReeveVerbs
  /** The scope of processes that the agent starts; by default that of the agent itself. */
  readonly ownerOf?: (agent: ProcessRecord) => Owner
  /** The values of secrets, as of those in environments. Throws if one is not set. */
  readonly secrets: (values: Readonly<Record<string, SecretOrText>>) => Readonly<Record<string, string>>
  /** How long an agent waits for a server that starts; 30 s by default. */
  readonly startMs?: number
}

const START_MS = 30_000
/** A server that was waited for once does not hold up its agent again. */
const LATER_MS = 1_000

const MAX_ALERTED_AGENTS = 1_000
/** Alerts that wait for an agent; more are dropped, the oldest first. */
const MAX_ALERTS = 100

export function openMcpServers(parts: McpParts): McpServers {
  const agents = new Map<Pid, ReadonlyMap<string, AgentServer>>()
  const alerts = new BoundedMap<Pid, readonly McpAlert[]>(MAX_ALERTED_AGENTS)
  const alert = ({ pid }: ProcessRecord, one: McpAlert) => {
    alerts.set(pid, [...(alerts.get(pid) ?? []), one].slice(-MAX_ALERTS))
  }
  const serversOf = (agent: ProcessRecord) => {
    const known = agents.get(agent.pid)
    if (known !== undefined) return known
    const { mcpServers = {} } = specOf({ kind: 'agent', spec: startSpecOf(agent) }, 'agent')
    const servers = new Map(
      Object.entries(mcpServers).map(([name, spec]) => [
        name,
        new AgentServer({ ...parts, alert }, agent, name, spec),
      ]),
    )
    if (servers.size > 0) agents.set(agent.pid, servers)
    return servers
  }
  const commandsFor = async (agent: ProcessRecord) => {
    const commands = await Promise.all([...serversOf(agent).values()].map((server) => server.commands()))
    return commands.flat().sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  const release = (agent: Pid) => {
    for (const server of agents.get(agent)?.values() ?? []) server.close()
    agents.delete(agent)
  }
  return {
    async toolsFor(agent) {
      const tools = await Promise.all([...serversOf(agent).values()].map((server) => server.tools()))
      return tools.flat().sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    commandsFor,
    takeAlerts(agent) {
      const waiting = alerts.get(agent) ?? []
      alerts.delete(agent)
      return waiting
    },
    release,
    async close() {
      for (const agent of agents.keys()) release(agent)
    },
  }
}

/** A server as its agent sees it: tools, or an alert. */
class AgentServer {
  readonly #name: string
  readonly #session: ServerSession
  readonly #isKept: boolean
  readonly #alert: (code: McpAlertCode, message: string, key: string) => void
  /** How long the next listing may take. */
  #patienceMs: number
  #told: string | undefined

  constructor(
    parts: McpParts & { readonly alert: (agent: ProcessRecord, alert: McpAlert) => void },
    agent: ProcessRecord,
    name: string,
    spec: McpServerSpec,
  ) {
    this.#name = name
    this.#isKept = spec.type === 'command'
    this.#patienceMs = parts.startMs ?? START_MS
    this.#alert = (code, message, key) =>
      parts.alert(agent, { code, server: name, message, key: `${name}:${key}` })
    this.#session = new ServerSession({
      agent,
      name,
      spec,
      owner: parts.ownerOf?.(agent),
      verbs: parts.verbsOf(agent),
      secrets: (values) => {
        const refused = Object.values(values).some((value) => typeof value !== 'string')
          ? refuseMcpSecrets(agent)
          : undefined
        if (refused !== undefined) throw new RefusedError(refused)
        return parts.secrets(values)
      },
      alert: this.#alert,
    })
  }

  async tools(): Promise<readonly AgentTool[]> {
    try {
      const tools = await withTimeout(this.#session.tools(), this.#patienceMs, null)
      if (tools === null)
        throw new McpFailure('timed_out', `The MCP server ${this.#name} does not answer yet.`)
      this.#told = undefined
      return tools.map((tool) => this.#toolOf(tool))
    } catch (error) {
      const message = messageOf(error)
      // Said once, and not before each call of the model.
      if (message !== this.#told) this.#alert('mcp_server_unavailable', message, message)
      this.#told = message
      return []
    } finally {
      this.#patienceMs = LATER_MS
    }
  }

  async commands(): Promise<readonly ServerCommand[]> {
    const prompts = await withTimeout(
      this.#session.prompts().catch(() => []),
      this.#patienceMs,
      [],
    )
    return prompts.map((prompt) => ({
      name: agentToolName(this.#name, prompt.name),
      description: prompt.description,
      source: `mcp:${this.#name}`,
      arguments: prompt.arguments.map(({ name }) => name),
      resolve: (text) => this.#session.prompt(prompt, text),
    }))
  }

  close(): void {
    this.#session.close()
  }

  #toolOf(definition: ToolDefinition): AgentTool {
    const { description, inputSchema, isReadOnly } = definition
    const name = agentToolName(this.#name, definition.name)
    const parse = (input: unknown) => {
      if (isJsonObject(input)) return input
      throw new ToolError('invalid_input', `The input of ${name} must be an object.`)
    }
    const need: Need = {
      right: 'execute',
      resource: { kind: 'mcp', path: `${this.#name}/${definition.name}` },
      attributes: NO_ATTRIBUTES,
    }
    return {
      name,
      description,
      inputSchema,
      // A call to a kept server goes on in the next kernel: its request is sent once, whichever kernel runs it.
      recovery: this.#isKept || isReadOnly ? 'rerunnable' : 'bound',
      // The session bounds each request, and a person or a task may take longer.
      maxMs: null,
      parse: async (input) => parse(input),
      needs: async () => [need],
      run: async (input, context) => {
        try {
          return callOutput(await this.#session.call(definition, parse(input), context), name)
        } catch (error) {
          if (error instanceof McpFailure) throw new ToolError(CODES[error.code], error.message)
          throw error
        }
      },
    }
  }
}

const CODES: Readonly<Record<McpFailureCode, ToolErrorCode>> = {
  unavailable: 'mcp_unavailable',
  unauthorized: 'mcp_unavailable',
  expired: 'mcp_unavailable',
  refused: 'mcp_error',
  unusable: 'mcp_error',
  timed_out: 'mcp_interrupted',
  interrupted: 'mcp_interrupted',
  changed: 'mcp_tool_changed',
}
