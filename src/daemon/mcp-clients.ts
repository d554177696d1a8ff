import type { Embedded } from '../embed/embed.ts'
import type { HomePaths } from '../home/paths.ts'
import type { McpHttp } from '../mcp/http.ts'
import { endIdleSessions } from '../mcp/session-grace.ts'
import type { Log } from '../server/served.ts'
import type { MountedHandler } from '../server/server.ts'
import { mcpKey } from './mcp-key.ts'
import type { Settings } from './settings.ts'

/** The daemon's part for MCP clients: MCP over HTTP, and the end of sessions to which no client came back. */
export interface McpService {
  readonly mount: Readonly<Record<string, MountedHandler>>
  close(): Promise<void>
}

export function serveMcpClients(
  reeve: Embedded,
  home: HomePaths,
  { sessionGraceMs }: Settings,
  log: Log,
): McpService {
  const idle = endIdleSessions(reeve, {
    graceMs: sessionGraceMs,
    onTrouble: (error) => log.warn({ err: error }, 'trouble while ending sessions without clients'),
  })
  let handler: Promise<McpHttp> | undefined
  // Loaded for the first client: most daemons have none over HTTP, and every daemon must start fast.
  const mcp = () => {
    handler ??= import('../mcp/http.ts').then(({ mcpHttpHandler }) =>
      mcpHttpHandler(reeve, {
        key: mcpKey(home),
        onTrouble: (error) => log.warn({ err: error }, 'trouble with an MCP client'),
      }),
    )
    return handler
  }
  return {
    mount: { '/mcp': async (request, caller) => (await mcp()).fetch(request, caller) },
    async close() {
      await idle.close()
      await (await handler)?.close()
    },
  }
}
