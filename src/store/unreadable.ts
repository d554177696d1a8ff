import { StoreError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'

/** A row of a process, its record or an event, that is there, and whose text is not what a store writes. */
export interface UnreadableRow {
  readonly pid: Pid
  readonly reason: string
}

/** Rows are named here when they are met, so that lists, claims and recovery go on without them. */
export class UnreadableRows {
  /** By pid, and events by their position, too. */
  readonly #rows = new Map<string, UnreadableRow>()

  get size(): number {
    return this.#rows.size
  }

  has(pid: Pid): boolean {
    return this.#rows.has(pid)
  }

  /** One of each process: that of its record, if that is among them. */
  all(): readonly UnreadableRow[] {
    const named = new Map([...this.#rows.values()].map((row) => [row.pid, row]))
    return [...named.values()].map((row) => this.#rows.get(row.pid) ?? row)
  }

  /** These processes are not there any more. */
  forget(pids: Iterable<Pid>): void {
    if (this.#rows.size === 0) return
    const gone = new Set(pids)
    for (const [key, { pid }] of this.#rows) if (gone.has(pid)) this.#rows.delete(key)
  }

  /** Reads the record of a process. Throws what `unreadablePid` recognises. */
  read<Row>(pid: Pid, parse: () => Row): Row {
    return this.#read(pid, pid, parse)
  }

  #read<Row>(key: string, pid: Pid, parse: () => Row): Row {
    try {
      const row = parse()
      if (this.#rows.size > 0) this.#rows.delete(key)
      return row
    } catch (error) {
      // Not the parser's own words: they quote the text.
      const reason = error instanceof SyntaxError ? 'its text is not JSON' : String(error)
      if (this.#rows.size < MAX_NAMED) this.#rows.set(key, { pid, reason })
      throw unreadable(pid, reason)
    }
  }

  /** The same for one of many, or for the event at a position: undefined if it cannot be read. */
  readOrSkip<Row>(pid: Pid, parse: () => Row, position?: number): Row | undefined {
    try {
      return this.#read(position === undefined ? pid : `${pid} ${position}`, pid, parse)
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
