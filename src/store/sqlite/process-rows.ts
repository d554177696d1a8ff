import type { Pid } from '../../core/process/pid.ts'
import { hasEnded } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type { NumberedRow, processStatements } from './statements/process.ts'

/** Ended processes are not cached: they are rarely read again, and would fill the cache. */
const MAX_CACHED_ROWS = 2_000

export interface ProcessRowsOptions {
  readonly statements: ReturnType<typeof processStatements>
  readonly isInTransaction: () => boolean
}

/** Reads and writes the rows of processes, through a cache, so that a busy process is not parsed for every event. */
export class ProcessRows {
  readonly #options: ProcessRowsOptions
  /** Valid as long as no other connection has committed. */
  readonly #committed = new Map<Pid, NumberedRow>()
  /** As the open transaction has them; null if it has pruned the process. */
  readonly #touched = new Map<Pid, NumberedRow | null>()

  constructor(options: ProcessRowsOptions) {
    this.#options = options
  }

  read(pid: Pid): NumberedRow | null {
    const touched = this.#touched.get(pid)
    const cached = touched === undefined ? this.#committed.get(pid) : touched
    if (cached !== undefined) return cached
    const { statements, isInTransaction } = this.#options
    const found = statements.read(pid)
    // Outside a transaction the file may be newer than the cache: only rows read inside one are cached.
    if (found !== null && isInTransaction()) this.#touched.set(pid, found)
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
    this.#touched.set(pid, { id, row })
    return id
  }

  /** The open transaction has pruned the process. */
  pruned(pid: Pid): void {
    this.#touched.set(pid, null)
  }

  begin(): void {
    this.#touched.clear()
  }

  commit(): void {
    for (const [pid, row] of this.#touched) this.#cache(pid, row)
    this.#touched.clear()
  }

  rollBack(): void {
    this.#touched.clear()
    this.forget()
  }

  /** Another connection may have changed any of the rows. */
  forget(): void {
    this.#committed.clear()
  }

  #cache(pid: Pid, row: NumberedRow | null): void {
    this.#committed.delete(pid)
    if (row === null || hasEnded(row.row.record)) return
    this.#committed.set(pid, row)
    if (this.#committed.size <= MAX_CACHED_ROWS) return
    const oldest = this.#committed.keys().next().value
    if (oldest !== undefined) this.#committed.delete(oldest)
  }
}
