import type { McpServer } from '@modelcontextprotocol/server'
import type { McpClient } from '../../../src/mcp/client.ts'
import { mcpServer } from '../../../src/mcp/server.ts'
import { addFixturePrompts, addFixtureResources } from './fixture-resources.ts'
import { addFixtureTools } from './fixture-tools.ts'

/** Reeve's own MCP server, with the suite's fixtures beside its tools and resources. */
export function withFixtures(client: McpClient): McpServer {
  const server = mcpServer(client)
  server.server.registerCapabilities({ logging: {} })
  addFixtureTools(server)
  addFixtureResources(server)
  addFixturePrompts(server)
  if (client.era === 'legacy') {
    // The suite's own resource can be subscribed to; nothing ever happens to it.
    server.server.setRequestHandler('resources/subscribe', async () => ({}))
    server.server.setRequestHandler('resources/unsubscribe', async () => ({}))
  }
  return server
}
