import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** A commit moves the pages of the WAL into the file when there are this many: 16 MB. */
const AUTO_PAGES = 4_000
/**
 * A prune writes the same index pages with every batch, so that moving them seldom saves most of the work. Its batches reach
 * this limit (128 MB) only when `runIfDue` does not come in between.
 */
const PRUNE_AUTO_PAGES = 32_000
/** A prune has a checkpoint after this many processes. */
const PRUNED_PER_CHECKPOINT = 10_000

/** When the pages of the WAL are moved into the file: mostly with a commit, and for prunes in a turn of the loop of its own. */
export class Checkpoints {
  readonly #toAuto: StatementSync
  readonly #toPrune: StatementSync
  readonly #passive: StatementSync
  #pruned = 0

  constructor(db: DatabaseSync) {
    this.#toAuto = db.prepare(`pragma wal_autocheckpoint = ${AUTO_PAGES}`)
    this.#toPrune = db.prepare(`pragma wal_autocheckpoint = ${PRUNE_AUTO_PAGES}`)
    this.#passive = db.prepare('pragma wal_checkpoint(passive)')
    this.#toAuto.get()
  }

  /** Commits a transaction that prunes `pruned` processes. */
  commit(pruned: number, commit: () => void): void {
    if (pruned === 0) {
      commit()
      return
    }
    this.#toPrune.get()
    try {
      commit()
    } finally {
      this.#toAuto.get()
    }
    this.#pruned += pruned
  }

  /** Between transactions: answers whether it did. */
  runIfDue(): boolean {
    if (this.#pruned < PRUNED_PER_CHECKPOINT) return false
    this.#pruned = 0
    try {
      this.#passive.get()
    } catch {
      // A commit moves the pages later, and tells the reason if it cannot.
    }
    return true
  }
}
