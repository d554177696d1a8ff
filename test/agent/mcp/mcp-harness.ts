import type { Embedded, ProcessRecord } from 'reeve'
import { onTestFinished } from 'vitest'
import type * as z from 'zod'
import type { McpAlert, McpServers } from '../../../src/agent/mcp/mcp-servers.ts'
import type { AgentTool, ToolOutput } from '../../../src/agent/tools/agent-tool.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { specs } from '../../../src/verbs/shapes/spec.ts'
import type { TempReeve } from '../../temp-reeve.ts'
import { callRequest, openMcpKernel } from './mcp-kernel.ts'

/** What a call came to: what the model reads, or the code and the text of an error. */
export type Called = ToolOutput | { readonly error: string; readonly code: string }

type Servers = NonNullable<z.input<typeof specs.agent>['mcpServers']>
export type Server = Servers[string]

interface HarnessOptions {
  readonly secrets?: Readonly<Record<string, string>>
  readonly startMs?: number
}

/** A kernel that runs the tools of MCP servers as processes below an agent, as the executor of agents does. */
export class McpHarness {
  readonly reeve: Embedded
  readonly servers: McpServers
  readonly #alerts: McpAlert[] = []
  readonly #agents = new Set<string>()

  private constructor(reeve: Embedded, servers: McpServers) {
    this.reeve = reeve
    this.servers = servers
  }

  static async open(temp: TempReeve, options: HarnessOptions = {}): Promise<McpHarness> {
    const { reeve, servers } = await openMcpKernel((tools) => temp.embed({}, { tools }), options)
    onTestFinished(() => servers.close())
    return new McpHarness(reeve, servers)
  }

  /** All alerts so far, of the agents whose tools were asked for. */
  get alerts(): readonly McpAlert[] {
    for (const agent of this.#agents) this.#alerts.push(...this.servers.takeAlerts(agent))
    return this.#alerts
  }

  async agent(mcpServers: Servers): Promise<ProcessRecord> {
    const { record } = await this.reeve.spawn({ kind: 'agent', spec: { agent: 'tester', mcpServers } })
    return record
  }

  async tools(agent: ProcessRecord): Promise<readonly AgentTool[]> {
    this.#agents.add(agent.pid)
    return this.servers.toolsFor(agent)
  }

  /** Begins a call as a process; `called` waits for its end. */
  async begin(agent: ProcessRecord, tool: string, given: JsonObject = {}): Promise<ProcessRecord> {
    this.#agents.add(agent.pid)
    const { record } = await this.reeve.spawn(callRequest(agent.pid, tool, given))
    return record
  }

  /** The process of a call that the test runs itself: no program serves its tool. */
  async ownCall(agent: ProcessRecord): Promise<Parameters<AgentTool['run']>[1]> {
    const { record } = await this.reeve.spawn({ kind: 'tool', parent: agent.pid, spec: { tool: 'own' } })
    return { pid: record.pid, abortSignal: new AbortController().signal }
  }

  async called(pid: string): Promise<Called> {
    const waited = await this.reeve.wait({ pid })
    if (waited.type !== 'ended') throw new Error(`${pid}: ${waited.type}`)
    return waited.record.outcome?.result as unknown as Called
  }

  async call(agent: ProcessRecord, tool: string, given: JsonObject = {}): Promise<Called> {
    return this.called((await this.begin(agent, tool, given)).pid)
  }
}

/** The text of a call that went well. */
export function textOf(called: Called): string {
  if ('error' in called) return `${called.code}: ${called.error}`
  return called.parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join('\n')
}
