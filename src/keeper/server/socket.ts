import { chmodSync, closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Home } from '../protocol/home.ts'
import type { KeeperIdentity } from '../protocol/messages.ts'
import type { Server } from './server.ts'

/** From now on daemons find this keeper. */
export async function listen({ keeper }: Home, server: Server, identity: KeeperIdentity): Promise<void> {
  // Whoever left it is dead: the lock says so.
  rmSync(keeper.socket, { force: true })
  if (Buffer.byteLength(keeper.socket) <= LONGEST_PATH) await server.listen(keeper.socket)
  else await listenInFolder(keeper.folder, server)
  chmodSync(keeper.socket, 0o600)
  const made = `${keeper.identity}.new`
  writeFileSync(made, JSON.stringify(identity), { mode: 0o600 })
  renameSync(made, keeper.identity)
}

/** From now on they don't. */
export function withdraw({ keeper }: Home, server: Server): void {
  server.close()
  rmSync(keeper.socket, { force: true })
  rmSync(keeper.identity, { force: true })
}

/** The system takes 107 bytes; some are left for the tools of others. */
const LONGEST_PATH = 100

async function listenInFolder(folder: string, server: Server): Promise<void> {
  const fd = openSync(folder, 'r')
  try {
    await server.listen(`/proc/self/fd/${fd}/socket`)
  } finally {
    closeSync(fd)
  }
}
