import type { Embedded } from '../embed/embed.ts'
import { endIdleSessions } from '../mcp/session-grace.ts'
import type { Log } from '../server/served.ts'
import type { MountedHandler } from '../server/server.ts'
import type { Settings } from './settings.ts'

/** What the daemon does for MCP clients: their protocol over HTTP, and the end of sessions that none of them came back to. */
export interface Guests {
  readonly mount: Readonly<Record<string, MountedHandler>>
  close(): Promise<void>
}

export async function guestsOf(reeve: Embedded, { sessionGraceMs }: Settings, log: Log): Promise<Guests> {
  const idle = endIdleSessions(reeve, {
    graceMs: sessionGraceMs,
    onTrouble: (error) => log.warn({ err: error }, 'trouble while ending sessions without clients'),
  })
  return { mount: {}, close: () => idle.close() }
}
