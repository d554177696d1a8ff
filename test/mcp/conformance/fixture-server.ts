import { serve } from '@hono/node-server'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { McpClient } from '../../../src/mcp/client.ts'
import { mcpHttpHandler } from '../../../src/mcp/http.ts'
import { mcpServer } from '../../../src/mcp/server.ts'
import type { McpReeve } from '../../../src/mcp/session.ts'
import { addFixturePrompts, addFixtureResources } from './fixture-resources.ts'
import { addFixtureTools } from './fixture-tools.ts'

/** Reeve's own MCP server with the suite's fixtures beside its tools, on loopback, for whoever asks. */
export async function serveFixtures(reeve: McpReeve): Promise<{ url: string; close(): Promise<void> }> {
  const handler = mcpHttpHandler(reeve, { build: withFixtures })
  const caller = { role: 'admin', actor: 'host', tokenId: null } as const
  const fetch = (request: Request) =>
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    handler.fetch(request, caller)
  const server = serve({ fetch, hostname: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await handler.close()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function withFixtures(client: McpClient): McpServer {
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
