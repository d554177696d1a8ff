import { missingBlobs } from '../../core/blob/blob-missing.ts'
import type { Change, Commit, Question } from '../contract.ts'
import type { Transaction } from '../group-commit.ts'
import { answerFrom } from './answers.ts'
import { ChangeWriter, ConstraintError } from './change-writer.ts'
import type { MemoryTables } from './memory-tables.ts'

/**
 * One store's access to the shared tables. A transaction changes them in place and undoes that on rollback: it is
 * synchronous, so no other store reads in between.
 */
export class Tables implements Transaction {
  readonly #tables: MemoryTables
  readonly #now: () => number
  readonly #onCommit: () => void
  #writer: ChangeWriter
  /** The position before the open transaction; infinite while no transaction is open. */
  #before = Number.POSITIVE_INFINITY

  constructor(tables: MemoryTables, now: () => number, onCommit: () => void) {
    this.#tables = tables
    this.#now = now
    this.#onCommit = onCommit
    this.#writer = new ChangeWriter(tables, now)
  }

  begin(): void {
    this.#writer = new ChangeWriter(this.#tables, this.#now)
    this.#before = this.#tables.position
  }

  commit(): Commit | null {
    const { hasChanges, hasMovedFeed, events } = this.#writer
    const after = this.#before
    this.#before = Number.POSITIVE_INFINITY
    // A later rollback by the caller must not undo the commit.
    this.#writer = new ChangeWriter(this.#tables, this.#now)
    if (hasChanges) this.#onCommit()
    return hasMovedFeed ? { after, position: this.#tables.position, events } : null
  }

  rollback(): void {
    this.#writer.rollBack()
    this.#before = Number.POSITIVE_INFINITY
  }

  isBusy = (): boolean => false
  isPlanFault = (error: unknown): boolean =>
    error instanceof ConstraintError || missingBlobs(error) !== undefined
  toStoreError = (error: unknown): unknown => error

  answer(question: Question): unknown {
    return answerFrom({ tables: this.#tables, now: this.#now, before: this.#before }, question)
  }

  apply(change: Change): void {
    this.#writer.apply(change)
  }
}
