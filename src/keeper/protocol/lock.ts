import { chmodSync, closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from '../../base/error-text.ts'

/**
 * An exclusive lock on a small SQLite file. The operating system frees it when its OS process ends, in any way, and it works
 * across PID namespaces.
 */
export interface Lock {
  release(): void
}

/** Null if another process holds it. */
export function takeLock(path: string): Lock | null {
  makeForOwner(path)
  const file = new DatabaseSync(path)
  try {
    // In memory: a journal file would need disk space, and daemon and keeper must start on a full disk.
    file.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    file.close()
    if (isBusy(error)) return null
    throw error
  }
  return { release: () => file.close() }
}

/** Only the owner may open the file, because a user who opens it can hold the lock. SQLite would create it with the umask. */
function makeForOwner(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    // Not opened and closed, which would free a lock that this OS process holds on it.
    chmodSync(path, 0o600)
  }
}

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
