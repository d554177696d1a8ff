import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { HolderLocks } from '../contract.ts'
import { isBusy, toStoreError } from './store-errors.ts'

/** A lock needs no journal. A journal file would need disk space, and a daemon must start on a full disk. */
const WITHOUT_FILES = 'pragma journal_mode = memory'

/**
 * One small file per holder, locked by an open transaction. The operating system frees the lock when the process dies, even by
 * `kill -9`, and the lock works across PID namespaces; a PID in a file does neither.
 */
export function holderLocks(folder: string): HolderLocks {
  // The garbage collector closes a connection without references, which would free its lock.
  const held = new Map<string, DatabaseSync>()
  const fileOf = (holder: string) => join(folder, `${holder}.lock`)
  return {
    hold(holder) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const file = fileOf(holder)
      makeForOwner(file)
      const db = new DatabaseSync(file, { timeout: 0 })
      try {
        db.exec(`${WITHOUT_FILES}; begin exclusive`)
      } catch (error) {
        db.close()
        throw toStoreError(error, file)
      }
      held.set(holder, db)
      return () => {
        if (!held.delete(holder)) return
        db.close()
        rmSync(file, { force: true })
      }
    },

    prove(holder) {
      if (held.has(holder)) return 'alive'
      const file = fileOf(holder)
      // A missing file proves nothing: it may have been removed, or lie in another folder.
      if (!existsSync(file)) return 'unknown'
      const db = new DatabaseSync(file, { timeout: 0 })
      try {
        db.exec(`${WITHOUT_FILES}; begin immediate; rollback`)
        return 'dead'
      } catch (error) {
        if (isBusy(error)) return 'alive'
        throw error
      } finally {
        db.close()
      }
    },

    // Holder ids are never reused, so no other holder needs the file of a dead one.
    clear(holder) {
      if (!held.has(holder)) rmSync(fileOf(holder), { force: true })
    },
  }
}

/** Anyone who can open the file can lock it, and pretend to be alive. SQLite would create it with the umask's mode. */
function makeForOwner(file: string): void {
  // An existing file must not be opened and closed: that would free a lock that this OS process holds on it.
  if (existsSync(file)) chmodSync(file, 0o600)
  else closeSync(openSync(file, 'a', 0o600))
}
