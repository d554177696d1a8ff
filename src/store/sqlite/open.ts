import { closeSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { codeOf } from '../../base/error-text.ts'
import type { Cancel, Clock } from '../../core/clock.ts'
import { StoreError } from '../../core/errors.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type {
  AnswerTo,
  Blobs,
  Commit,
  Durability,
  HolderLocks,
  Page,
  Plan,
  Question,
  Questions,
  Store,
} from '../contract.ts'
import { closedError, GroupCommit, type Transaction } from '../group-commit.ts'
import { Listeners } from '../listeners.ts'
import { StoredBlobs } from '../stored-blobs.ts'
import { systemClock } from '../system-clock.ts'
import { SqliteBlobTable } from './blob-table.ts'
import { holderLocks } from './holder-locks.ts'
import { migrate } from './migrate.ts'
import { releaseSpace } from './release-space.ts'
import { isBusy, isFull, toStoreError } from './store-errors.ts'
import { Tables } from './tables.ts'
import { touchFile, watchFile } from './watch-file.ts'

export interface SqliteOptions {
  readonly clock?: Clock
  readonly random?: () => number
  readonly soon?: (task: () => void) => void
  /** Calls `look` when another process may have committed. */
  readonly watch?: (file: string, clock: Clock, look: () => void) => Cancel
  /** Wraps the tables for group commit: for tests that make writes fail. */
  readonly wrap?: (transaction: Transaction) => Transaction
}

const OPEN_BUSY_MS = 5_000
const OPEN_RETRY_MS = 20

/**
 * Opens a store in one SQLite file, which any number of processes on this machine may share. Creates the file if needed.
 *
 * ```ts
 * const store = await openSqlite('reeve.db')
 * ```
 */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Store> {
  const clock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  const begun = clock.now()
  for (;;) {
    try {
      const db = connect(file)
      try {
        // The real path stays valid if the program changes its folder, and is the same for all names of the file.
        return new SqliteStore(realpathSync(file), db, { ...options, clock, random })
      } catch (error) {
        db.close()
        throw error
      }
    } catch (error) {
      if (!isBusy(error) || clock.now() - begun > OPEN_BUSY_MS) throw toStoreError(error, file)
    }
    await new Promise<void>((resolve) => clock.after(random() * OPEN_RETRY_MS, resolve))
  }
}

function connect(file: string): DatabaseSync {
  if (file === '' || file === ':memory:') {
    throw new StoreError(
      'store_unavailable',
      `${JSON.stringify(file)} is not the name of a file.`,
      'Give the path of a file. For a store in memory there is openMemory of reeve/testing.',
    )
  }
  // Output and notices of processes are private: only the owner may read the file.
  closeSync(openOwn(file))
  const db = new DatabaseSync(realpathSync(file), { timeout: 0 })
  try {
    // Takes effect on a new file only: see `releaseSpace`.
    db.exec('pragma auto_vacuum = incremental')
    db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536')
    migrate(db, file)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function openOwn(file: string): number {
  try {
    return openSync(file, 'a', 0o600)
  } catch (error) {
    throw unopenable(file, error)
  }
}

function unopenable(file: string, error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'EISDIR') {
    return new StoreError(
      'store_unavailable',
      `${file} is a folder, and a store is a file.`,
      `Name a file in it, like ${join(file, 'reeve.db')}.`,
      { cause: error },
    )
  }
  const errcode = code === 'EROFS' || code === 'EACCES' || code === 'EPERM' ? 8 : code === 'ENOSPC' ? 13 : 14
  return toStoreError(Object.assign(new Error(String(error)), { errcode }), file)
}

class SqliteStore implements Store {
  readonly durability: Durability
  readonly locks: HolderLocks
  readonly blobs: Blobs
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #tables: Tables
  readonly #group: GroupCommit
  readonly #listeners = new Listeners()
  readonly #unwatch: Cancel
  readonly #soon: (task: () => void) => void
  /** `ForeignCommits.looks` at the time of a write to the file that a transaction was about to check. */
  #owedSince: number | undefined
  #closed = false

  constructor(
    file: string,
    db: DatabaseSync,
    options: SqliteOptions & { clock: Clock; random: () => number },
  ) {
    const { clock, random, soon = nextTurn } = options
    this.#soon = soon
    this.#file = file
    this.#db = db
    this.#tables = new Tables(db, file, () => clock.now())
    this.durability = durabilityOf(db)
    this.locks = holderLocks(`${file}-holders`)
    this.#group = new GroupCommit(options.wrap?.(this.#tables) ?? this.#tables, {
      clock,
      random,
      soon: (task) => this.#transactSoon(task),
      onCommit: (commit) => {
        touchFile(`${file}-wal`)
        this.#listeners.notify(commit)
      },
    })
    const blobs = new SqliteBlobTable({
      db,
      file,
      now: () => clock.now(),
      run: (task) => this.#group.run(task),
      isClosed: () => this.#closed,
    })
    this.blobs = new StoredBlobs(blobs, soon)
    this.#unwatch = (options.watch ?? watchFile)(`${file}-wal`, clock, () => this.#written())
  }

  async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
    if (this.#closed) throw closedError()
    try {
      this.#tellForeign('look')
      if (question.ask === 'processes') return (await this.#list(question)) as AnswerTo<Q>
      return this.#tables.answer(question) as AnswerTo<Q>
    } catch (error) {
      throw toStoreError(error, this.#file)
    }
  }

  write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    return this.#group.write(plan)
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#listeners.add(listener)
  }

  async releaseSpace(): Promise<'more' | 'done'> {
    await new Promise<void>((resolve) => this.#soon(resolve))
    if (this.#closed) return 'done'
    try {
      return releaseSpace(this.#db)
    } catch (error) {
      // Another process writes, or the disk has no room for the pages to be moved: the free pages stay until the next call.
      if (isBusy(error) || isFull(error)) return 'done'
      throw toStoreError(error, this.#file)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#group.close()
    this.#closed = true
    this.#unwatch()
    this.#db.close()
  }

  #transactSoon(transact: () => void): void {
    this.#soon(() => {
      if (!this.#closed && this.#tables.checkpointIfDue()) return this.#transactSoon(transact)
      try {
        transact()
      } finally {
        this.#afterTurn()
      }
    })
  }

  /** Lets other work of the loop run between the queries of a long list. */
  async #list(question: Questions['processes'][0]): Promise<Page<ProcessRow>> {
    const steps = this.#tables.list(question)
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
      await new Promise<void>((resolve) => this.#soon(resolve))
      if (this.#closed) throw closedError()
    }
  }

  /**
   * The file was written to, usually by this store itself. If a transaction is about to begin, it checks for commits of
   * others, at almost no cost.
   */
  #written(): void {
    if (this.#group.isArmed) this.#owedSince ??= this.#tables.foreignCommits.looks
    else this.#lookOrLater('look')
  }

  #afterTurn(): void {
    const hasLooked = this.#owedSince === undefined || this.#tables.foreignCommits.looks > this.#owedSince
    this.#owedSince = undefined
    this.#lookOrLater(hasLooked ? 'noticed' : 'look')
  }

  /** If the file cannot be read now, the next check reads it; the next question reports the reason. */
  #lookOrLater(how: 'look' | 'noticed'): void {
    try {
      this.#tellForeign(how)
    } catch {
      // The commits stay to be reported.
    }
  }

  #tellForeign(how: 'look' | 'noticed'): void {
    const position = this.#closed ? null : this.#tables.noticeForeignCommits(how)
    if (position !== null) this.#listeners.notify({ after: position, position, events: null })
  }
}

function nextTurn(task: () => void): void {
  setImmediate(task)
}

function durabilityOf(db: DatabaseSync): Durability {
  const read = (pragma: string) => String(Object.values(db.prepare(`pragma ${pragma}`).get() ?? {})[0])
  const settings = { journal_mode: read('journal_mode'), synchronous: read('synchronous') }
  return {
    store: 'sqlite',
    survivesPowerCut: settings.journal_mode === 'wal' && settings.synchronous === '2',
    settings,
  }
}
