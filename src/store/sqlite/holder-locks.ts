import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { HolderLocks } from '../contract.ts'
import { isBusy, trouble } from './trouble.ts'

/** A lock needs no journal. A journal file would need disk space, and a daemon must start on a full disk. */
const WITHOUT_FILES = 'pragma journal_mode = memory'

/**
 * One small file per holder, locked by an open transaction. The operating system frees the lock when the process dies,
 * also by `kill -9`, and shows it across PID namespaces; a PID in a file could do neither.
 */
export function holderLocks(folder: string): HolderLocks {
  // A connection that nobody refers to is closed by the garbage collector, and its lock goes with it.
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
        throw trouble(error, file)
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
      // Silence is no proof: the file may have been cleared away, or lie where this program does not look.
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

    // Holder ids are never used again, so a dead one's file is nobody's.
    clear(holder) {
      if (!held.has(holder)) rmSync(fileOf(holder), { force: true })
    },
  }
}

/** Who may open it can lock it, and seem to be alive. SQLite alone would make it as the umask says. */
function makeForOwner(file: string): void {
  // One that is there is not opened and closed: that would free a lock that this OS process has on it.
  if (existsSync(file)) chmodSync(file, 0o600)
  else closeSync(openSync(file, 'a', 0o600))
}
