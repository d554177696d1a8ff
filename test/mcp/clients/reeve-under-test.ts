import { join } from 'node:path'
import { inject } from 'vitest'
import { TokenFile } from '../../../src/daemon/token-file.ts'
import { endForCertain } from '../../command/os-processes.ts'
import { TempReeve } from '../../temp-reeve.ts'
import type { Connection } from './drivers/driver.ts'

const REEVE = join(inject('builtReeve'), 'bin/reeve.mjs')

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
  const temp = new TempReeve()
  const env = {
    ...temp.env,
    REEVE_LISTEN: '127.0.0.1:0',
    // Clients give their servers few variables of their own environment.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  }
  return {
    connection: { type: 'stdio', command: process.execPath, args: [REEVE, 'mcp'], env },
    killDaemon: () => killAnnounced(temp),
    async restartDaemon() {},
  }
}

/** The client talks to a daemon that runs already, and comes back at the same address; the URL may name the client's folder. */
async function overHttp(folder: string | null): Promise<ReeveUnderTest> {
  const temp = new TempReeve()
  const { url } = await temp.start()
  if (url === null) throw new Error('The daemon listens on no address.')
  const query = folder === null ? '' : `?folder=${encodeURIComponent(folder)}`
  const { token } = new TokenFile(temp.home).create({ role: 'operate', label: 'client' })
  return {
    connection: { type: 'http', url: `${url}/mcp${query}`, token },
    killDaemon: () => killAnnounced(temp),
    async restartDaemon() {
      const { stderr, url: again } = await temp.start(['--listen', new URL(url).host])
      if (again !== url) throw new Error(`The daemon did not come back: ${stderr}`)
    },
  }
}

async function killAnnounced(temp: TempReeve): Promise<void> {
  const daemon = temp.announced()
  if (daemon === null || typeof daemon.startTime !== 'string') throw new Error('No daemon is running.')
  await endForCertain({ osPid: daemon.osPid, startTime: daemon.startTime })
}
