import type { Embedded } from '../embed/embed.ts'
import type { HomePaths } from '../home/paths.ts'
import type { McpHttp } from '../mcp/http.ts'
import { endIdleSessions } from '../mcp/session-grace.ts'
import type { Log } from '../server/served.ts'
import type { MountedHandler } from '../server/server.ts'
import { mcpKey } from './mcp-key.ts'
import type { Settings } from './settings.ts'

/** What the daemon does for MCP clients: their protocol over HTTP, and the end of sessions that none of them came back to. */
export interface Guests {
  readonly mount: Readonly<Record<string, MountedHandler>>
  close(): Promise<void>
}

export function guestsOf(reeve: Embedded, home: HomePaths, { sessionGraceMs }: Settings, log: Log): Guests {
  const idle = endIdleSessions(reeve, {
    graceMs: sessionGraceMs,
    onTrouble: (error) => log.warn({ err: error }, 'trouble while ending sessions without clients'),
  })
  let handler: Promise<McpHttp> | undefined
  // Loaded when the first client comes: most daemons have none over HTTP, and all are to start fast.
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
