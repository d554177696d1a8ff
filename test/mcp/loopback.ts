import { serve } from '@hono/node-server'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { McpHttp } from '../../src/mcp/http.ts'

/** Serves an MCP handler on loopback without tokens, which a daemon would require. */
export async function onLoopback(handler: McpHttp): Promise<{ url: string; close(): Promise<void> }> {
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
