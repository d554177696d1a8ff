import { fileURLToPath } from 'node:url'
import { TokenFile } from '../../../src/daemon/token-file.ts'
import { endForCertain } from '../../command/os-processes.ts'
import { Dwelling } from '../../daemon/dwelling.ts'
import type { Connection } from './drivers/driver.ts'

const REEVE = fileURLToPath(new URL('../../../bin/reeve.mjs', import.meta.url))

/** Reeve as a client reaches it, with a daemon that can be killed. */
export interface ReeveUnderTest {
  readonly connection: Connection
  /** Kills the daemon with SIGKILL. */
  killDaemon(): Promise<void>
  /** Starts the daemon again, unless `reeve mcp` does that by itself. */
  restartDaemon(): Promise<void>
}

export const REEVES = { stdio: overStdio, http: overHttp } as const

/** The client starts `reeve mcp`, which starts the daemon when it needs one. */
async function overStdio(): Promise<ReeveUnderTest> {
  const dwelling = new Dwelling()
  const env = {
    ...dwelling.env,
    REEVE_LISTEN: '127.0.0.1:0',
    // Clients give their servers few variables of their own environment.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  }
  return {
    connection: { type: 'stdio', command: process.execPath, args: [REEVE, 'mcp'], env },
    killDaemon: () => killAnnounced(dwelling),
    async restartDaemon() {},
  }
}

/** The client talks to a daemon that runs already, and comes back at the same address; the URL may name the client's folder. */
async function overHttp(folder: string | null): Promise<ReeveUnderTest> {
  const dwelling = new Dwelling()
  const { url } = await dwelling.start()
  if (url === null) throw new Error('The daemon listens on no address.')
  const query = folder === null ? '' : `?folder=${encodeURIComponent(folder)}`
  const { token } = new TokenFile(dwelling.home).create({ role: 'operate', label: 'client' })
  return {
    connection: { type: 'http', url: `${url}/mcp${query}`, token },
    killDaemon: () => killAnnounced(dwelling),
    async restartDaemon() {
      const { stderr, url: again } = await dwelling.start(['--listen', new URL(url).host])
      if (again !== url) throw new Error(`The daemon did not come back: ${stderr}`)
    },
  }
}

async function killAnnounced(dwelling: Dwelling): Promise<void> {
  const daemon = dwelling.announced()
  if (daemon === null || typeof daemon.startTime !== 'string') throw new Error('No daemon is running.')
  await endForCertain({ osPid: daemon.osPid, startTime: daemon.startTime })
}
