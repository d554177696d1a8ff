import type { Embedded, EmbedOptions } from 'reeve'
import { type McpServers, openMcpServers } from '../../../src/agent/mcp/mcp-servers.ts'
import { type AgentTool, ToolError } from '../../../src/agent/tools/agent-tool.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { SecretOrText } from '../../../src/core/process/spec.ts'

interface McpKernelOptions {
  readonly secrets?: Readonly<Record<string, string>>
  readonly startMs?: number
}

/** A kernel with a tool `call`, which runs a tool of an agent's MCP server as the executor of agents does. */
export async function openMcpKernel(
  embed: (tools: NonNullable<EmbedOptions['tools']>) => Promise<Embedded>,
  { secrets = {}, startMs }: McpKernelOptions = {},
): Promise<{ readonly reeve: Embedded; readonly servers: McpServers }> {
  const opened = Promise.withResolvers<{ reeve: Embedded; servers: McpServers }>()
  const reeve = await embed({
    call: async ({ pid, input, abortSignal, record }) => {
      const { agent, tool, given } = input as { agent: string; tool: string; given: JsonObject }
      const kernel = await opened.promise
      const tools = await kernel.servers.toolsFor(await kernel.reeve.show({ pid: agent }))
      const found = tools.find(({ name }) => name === tool)
      if (found === undefined) return { error: `no tool ${tool}`, code: 'none' }
      if (found.recovery !== record.recovery)
        throw new Error(`The test must call ${tool} with ${found.recovery}`)
      return outcomeOf(found, given, { pid, abortSignal })
    },
  })
  const servers = openMcpServers({
    verbsOf: ({ pid }) => reeve.as(`process:${pid}`),
    secrets: (values) => resolved(values, secrets),
    ...(startMs === undefined ? {} : { startMs }),
  })
  opened.resolve({ reeve, servers })
  return { reeve, servers }
}

/** The request for a process that calls a tool. */
export function callRequest(agent: string, tool: string, given: JsonObject) {
  return {
    kind: 'tool',
    parent: agent,
    lifetime: 'parent',
    recovery: tool.startsWith('mcp__web__') ? 'bound' : 'rerunnable',
    spec: { tool: 'call', input: { agent, tool, given } },
  } as const
}

async function outcomeOf(
  tool: AgentTool,
  input: JsonObject,
  context: Parameters<AgentTool['run']>[1],
): Promise<JsonObject> {
  try {
    return { ...(await tool.run(await tool.parse(input), context)) } as unknown as JsonObject
  } catch (error) {
    if (error instanceof ToolError) return { error: error.message, code: error.code }
    throw error
  }
}

function resolved(
  values: Readonly<Record<string, SecretOrText>>,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (secrets[value.secret] ?? ''),
    ]),
  )
}
