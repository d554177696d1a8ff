import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { RowCache } from './row-cache.ts'
import type { NumberedRow, processStatements } from './statements/process.ts'

export interface ProcessRowsOptions {
  readonly statements: ReturnType<typeof processStatements>
  readonly isInTransaction: () => boolean
}

/** Reads and writes the rows of processes, through a cache. */
export class ProcessRows {
  readonly #options: ProcessRowsOptions
  readonly #cache = new RowCache()

  constructor(options: ProcessRowsOptions) {
    this.#options = options
  }

  read(pid: Pid): NumberedRow | null {
    const cached = this.#cache.get(pid)
    if (cached !== undefined) return cached
    const { statements, isInTransaction } = this.#options
    const found = statements.read(pid)
    // Outside a transaction the file may be newer than the cache: only rows read inside one are cached.
    if (found !== null && isInTransaction()) this.#cache.touch(pid, found)
    return found
  }

  idOf(pid: Pid): number {
    const found = this.read(pid)
    if (found === null) throw new Error(`A change of ${pid}, which does not exist`)
    return found.id
  }

  /** Inserts the row or updates it, and returns its id. */
  write(was: ProcessRow | null, row: ProcessRow): number {
    const { statements } = this.#options
    const { pid } = row.record
    let id: number
    if (was === null) {
      id = statements.insert(row)
    } else {
      id = this.idOf(pid)
      statements.update(id, was, row)
    }
    this.#cache.touch(pid, { id, row })
    return id
  }

  /** The open transaction has pruned the process. */
  pruned(pid: Pid): void {
    this.#cache.touch(pid, null)
  }

  begin(): void {
    this.#cache.begin()
  }

  commit(): void {
    this.#cache.commit()
  }

  rollBack(): void {
    this.#cache.rollBack()
  }

  /** Another connection may have changed any of the rows. */
  forget(): void {
    this.#cache.forget()
  }
}
