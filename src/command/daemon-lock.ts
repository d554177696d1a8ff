import { readFileSync, writeFileSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import type { DataFolderPaths } from '../keeper/protocol/data-folder-paths.ts'
import { type Lock, takeLock } from '../keeper/protocol/lock.ts'
import type { Daemon } from './reach-keeper.ts'

/**
 * Locks a data folder for one daemon. A keeper refuses a second daemon, too, but a keeper may be dead, and a daemon may be
 * stopped (SIGSTOP) at that moment.
 */
export function takeHome(home: DataFolderPaths, { osPid }: Daemon): Lock {
  const lock = takeLock(home.daemon.lock)
  if (lock === null) throw alreadyRunning(home, ownerOf(home))
  writeFileSync(home.daemon.identity, `${JSON.stringify({ osPid })}\n`, { mode: 0o600 })
  return lock
}

export function alreadyRunning(home: DataFolderPaths, osPid: number | null): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `A daemon with PID ${osPid ?? 'unknown'} already owns ${home.folder}.`,
    'Use that one, stop it, or give this one a folder of its own.',
    { details: { osPid } },
  )
}

/** Null in the moment before a new daemon has written its PID. */
function ownerOf(home: DataFolderPaths): number | null {
  try {
    return (JSON.parse(readFileSync(home.daemon.identity, 'utf8')) as { osPid: number }).osPid
  } catch {
    return null
  }
}
