import { StoreError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'

/** A row that is there, and whose text is not what a store writes. */
export interface UnreadableRow {
  readonly pid: Pid
  readonly reason: string
}

/** Rows are named here when they are met, so that lists, claims and recovery go on without them. */
export class UnreadableRows {
  readonly #rows = new Map<Pid, UnreadableRow>()

  get size(): number {
    return this.#rows.size
  }

  has(pid: Pid): boolean {
    return this.#rows.has(pid)
  }

  all(): readonly UnreadableRow[] {
    return [...this.#rows.values()]
  }

  /** Reads one row. Throws what `unreadablePid` recognises. */
  read<Row>(pid: Pid, parse: () => Row): Row {
    try {
      const row = parse()
      if (this.#rows.size > 0) this.#rows.delete(pid)
      return row
    } catch (error) {
      // Not the parser's own words: they quote the text.
      const reason = error instanceof SyntaxError ? 'its text is not JSON' : String(error)
      if (this.#rows.size < MAX_NAMED) this.#rows.set(pid, { pid, reason })
      throw unreadable(pid, reason)
    }
  }

  /** The same for one of many: undefined if it cannot be read. */
  readOrSkip<Row>(pid: Pid, parse: () => Row): Row | undefined {
    try {
      return this.read(pid, parse)
    } catch {
      return undefined
    }
  }

  /** Says so again. */
  refuse(pid: Pid): StoreError | undefined {
    const row = this.#rows.get(pid)
    return row === undefined ? undefined : unreadable(pid, row.reason)
  }
}

/** A store with more of them needs another remedy than a list. */
const MAX_NAMED = 1_000

function unreadable(pid: Pid, reason: string): StoreError {
  return new StoreError(
    'record_unreadable',
    `The record of ${pid} cannot be read: ${reason}.`,
    'Everything else goes on without it. Restore the store from a copy, or prune this process once it has ended.',
    { details: { pid } },
  )
}
