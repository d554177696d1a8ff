import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** A commit checkpoints the WAL when it has this many pages: 16 MB. */
const AUTO_PAGES = 4_000
/**
 * A prune writes the same index pages with every batch, so rare checkpoints save most of the work. Its batches reach this
 * limit (128 MB) only if `runIfDue` is not called in between.
 */
const PRUNE_AUTO_PAGES = 32_000
/** A prune runs a checkpoint after this many processes. */
const PRUNED_PER_CHECKPOINT = 10_000

/** Decides when the WAL is checkpointed: usually with a commit, and for prunes in a separate turn of the loop. */
export class Checkpoints {
  readonly #db: DatabaseSync
  readonly #passive: StatementSync
  #pruned = 0

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#passive = db.prepare('pragma wal_checkpoint(passive)')
    this.#checkpointAt(AUTO_PAGES)
  }

  /** Commits a transaction that prunes `pruned` processes. */
  commit(pruned: number, commit: () => void): void {
    if (pruned === 0) {
      commit()
      return
    }
    this.#checkpointAt(PRUNE_AUTO_PAGES)
    try {
      commit()
    } finally {
      this.#checkpointAt(AUTO_PAGES)
    }
    this.#pruned += pruned
  }

  /** Call it between transactions. Returns whether there was a checkpoint. */
  runIfDue(): boolean {
    if (this.#pruned < PRUNED_PER_CHECKPOINT) return false
    this.#pruned = 0
    try {
      this.#passive.get()
    } catch {
      // A later commit checkpoints, and reports the reason if it cannot.
    }
    return true
  }

  /** Never as a prepared statement: SQLite applies this pragma when it compiles it, and not with the first run. */
  #checkpointAt(pages: number): void {
    this.#db.exec(`pragma wal_autocheckpoint = ${pages}`)
  }
}
