import { readFileSync } from 'node:fs'
import { startKeeper } from '../command/start-keeper.ts'
import type { HomePaths } from '../home/paths.ts'
import { prepareHome } from '../home/prepare.ts'
import { readyDaemon } from '../home/present-daemon.ts'
import { dataFolderAt } from '../keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../keeper/protocol/messages.ts'
import { prepareDataFolder as prepareCommands } from '../keeper/protocol/prepare-data-folder.ts'
import type { KeeperIdentity } from '../keeper/protocol/program-state.ts'
import { whoIs } from '../os/identity.ts'

/**
 * Starts the keeper of a home that has none before the daemon's own code is loaded. Both take about as long, so this halves the
 * start. A keeper that no daemon connects to exits by itself; the daemon reports a failure when it connects.
 */
export function startKeeperEarly(paths: HomePaths): void {
  try {
    prepareHome(paths)
    const home = dataFolderAt(paths.commands, PROTOCOL)
    if (readyDaemon(paths) !== null || isThere(home.keeper.identity)) return
    prepareCommands(home)
    startKeeper(home)
  } catch {
    // The daemon meets the same error, and reports it.
  }
}

function isThere(identity: string): boolean {
  try {
    return whoIs(JSON.parse(readFileSync(identity, 'utf8')) as KeeperIdentity) === 'ours'
  } catch {
    // No keeper has announced itself.
    return false
  }
}
