import type { Pid } from '../../core/process/pid.ts'
import { hasEnded } from '../../core/process/record.ts'
import type { NumberedRow } from './statements/process.ts'

/** Ended processes are not cached: they are rarely read again, and would fill the cache. */
const MAX_ROWS = 2_000

/** Rows of processes in memory, so that a busy process is not parsed for every event. */
export class RowCache {
  /** Valid as long as no other connection has committed. */
  readonly #committed = new Map<Pid, NumberedRow>()
  /** As the open transaction has them; null if it has pruned the process. */
  readonly #touched = new Map<Pid, NumberedRow | null>()

  /** Undefined if the cache does not know. */
  get(pid: Pid): NumberedRow | null | undefined {
    const touched = this.#touched.get(pid)
    return touched === undefined ? this.#committed.get(pid) : touched
  }

  /** The open transaction has read, written or pruned this row. */
  touch(pid: Pid, row: NumberedRow | null): void {
    this.#touched.set(pid, row)
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
    if (this.#committed.size <= MAX_ROWS) return
    const oldest = this.#committed.keys().next().value
    if (oldest !== undefined) this.#committed.delete(oldest)
  }
}
