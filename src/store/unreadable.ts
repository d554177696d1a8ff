import { StoreError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'

/** A stored record or event of a process whose text no store would write. */
export interface UnreadableRow {
  readonly pid: Pid
  readonly reason: string
}

/** Remembers unreadable rows when they are found, so that lists, claims and recovery go on without them. */
export class UnreadableRows {
  /** Records by pid, events by pid and position. */
  readonly #rows = new Map<string, UnreadableRow>()

  get size(): number {
    return this.#rows.size
  }

  has(pid: Pid): boolean {
    return this.#rows.has(pid)
  }

  /** One row per process: its record, if that is unreadable, or else an event. */
  all(): readonly UnreadableRow[] {
    const named = new Map([...this.#rows.values()].map((row) => [row.pid, row]))
    return [...named.values()].map((row) => this.#rows.get(row.pid) ?? row)
  }

  /** These processes do not exist any more. */
  forget(pids: Iterable<Pid>): void {
    if (this.#rows.size === 0) return
    const gone = new Set(pids)
    for (const [key, { pid }] of this.#rows) if (gone.has(pid)) this.#rows.delete(key)
  }

  /** Reads the record of a process. Throws an error that `unreadablePid` recognises. */
  read<Row>(pid: Pid, parse: () => Row): Row {
    return this.#read(pid, pid, parse)
  }

  #read<Row>(key: string, pid: Pid, parse: () => Row): Row {
    try {
      const row = parse()
      if (this.#rows.size > 0) this.#rows.delete(key)
      return row
    } catch (error) {
      // Not the parser's message: it quotes the text.
      const reason = error instanceof SyntaxError ? 'its text is not JSON' : String(error)
      if (this.#rows.size < MAX_ROWS) this.#rows.set(key, { pid, reason })
      throw unreadable(pid, reason)
    }
  }

  /** Reads one row of a list, or the event at a position. Returns undefined if it cannot be read. */
  readOrSkip<Row>(pid: Pid, parse: () => Row, position?: number): Row | undefined {
    try {
      return this.#read(position === undefined ? pid : `${pid} ${position}`, pid, parse)
    } catch {
      return undefined
    }
  }

  /** The error for a process whose record is known to be unreadable. */
  refuse(pid: Pid): StoreError | undefined {
    const row = this.#rows.get(pid)
    return row === undefined ? undefined : unreadable(pid, row.reason)
  }
}

/** A store with more unreadable rows needs another remedy than a list of them. */
const MAX_ROWS = 1_000

function unreadable(pid: Pid, reason: string): StoreError {
  return new StoreError(
    'record_unreadable',
    `The record of ${pid} cannot be read: ${reason}.`,
    'Everything else goes on without it. Restore the store from a copy, or prune this process once it has ended.',
    { details: { pid } },
  )
}
