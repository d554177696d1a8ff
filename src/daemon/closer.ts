import type { Embedded } from '../embed/embed.ts'
import { announceAgain, type RunningDaemon, withdraw } from '../home/announced-daemon.ts'
import type { HomePaths } from '../home/paths.ts'
import type { Log } from '../server/served.ts'
import type { Server } from '../server/server.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { McpService } from './mcp-clients.ts'

export interface ClosedParts {
  readonly reeve: Embedded
  readonly server: Server
  readonly mcp: McpService
  readonly telemetry: Telemetry | null
  readonly log: Log
}

/**
 * First ends the commands whose lifetime is the daemon, while clients that wait for them can still be answered; then closes the
 * server. The home announces meanwhile that this daemon stops: the next one waits for that.
 */
export function closer(
  home: HomePaths,
  announced: RunningDaemon,
  { reeve, server, mcp, telemetry, log }: ClosedParts,
): (options?: { readonly keep?: boolean }) => Promise<void> {
  let closing: Promise<void> | undefined
  const closeAll = async (keep: boolean) => {
    log.info({ keep }, 'stopping')
    // A failed step must not prevent the others: a daemon that stopped only partly could not be stopped again.
    const troubles: unknown[] = []
    const step = async (doing: string, act: () => unknown) => {
      try {
        await act()
      } catch (error) {
        troubles.push(error)
        log.error({ err: error, doing }, `trouble while ${doing}`)
      }
    }
    await step('announcing the stop', () => announceAgain(home, { ...announced, stopping: true }))
    if (!keep)
      await step('ending the commands whose lifetime is the daemon', async () => {
        await server.told(await reeve.endWithDaemon())
      })
    await step('leaving MCP clients', () => mcp.close())
    await step('closing the server', () => server.close())
    await step('closing the telemetry', () => telemetry?.close())
    await step('closing the store', () => reeve.close({ keep }))
    await step('removing the announcement', () => withdraw(home))
    log.info({}, 'stopped')
    if (troubles.length > 0) throw troubles[0]
  }
  return ({ keep = false } = {}) => {
    closing ??= closeAll(keep)
    return closing
  }
}
