import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type { McpClient } from '../../../src/mcp/client.ts'
import { mcpServer } from '../../../src/mcp/server.ts'
import { demandTasks, serveTasks, toolCallsOf } from '../../../src/mcp/tasks.ts'
import { addFixtureInput, refuseCall } from './fixture-input.ts'
import { addFixturePrompts, addFixtureResources } from './fixture-resources.ts'
import { addFixtureTasks, fixtureTasks, TASK_ONLY } from './fixture-tasks.ts'
import { addFixtureTools } from './fixture-tools.ts'

/** Reeve's own MCP server, with the suite's fixtures beside its tools and resources. */
export function withFixtures(client: McpClient): McpServer {
  const server = mcpServer(client)
  server.server.registerCapabilities({ logging: {}, prompts: { listChanged: false } })
  addFixtureTools(server)
  addFixtureResources(server)
  addFixturePrompts(server)
  if (client.era === 'legacy') {
    // The suite's own resource can be subscribed to; nothing ever happens to it.
    server.server.setRequestHandler('resources/subscribe', async () => ({}))
    server.server.setRequestHandler('resources/unsubscribe', async () => ({}))
    return server
  }
  addFixtureInput(server)
  addFixtureTasks(server)
  // The suite's tasks are served instead of those of processes, by the same code.
  serveTasks(server, fixtureTasks)
  const call = toolCallsOf(server)
  server.server.setRequestHandler('tools/call', async (request, ctx) => {
    if (TASK_ONLY.includes(request.params.name)) demandTasks(ctx)
    await refuseCall(request.params.name, ctx)
    return (await call({ jsonrpc: '2.0', id: ctx.mcpReq.id, ...request }, ctx)) as CallToolResult
  })
  return server
}
