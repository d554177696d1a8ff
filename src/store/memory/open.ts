import type { Clock } from '../../core/clock.ts'
import type { AnswerTo, Blobs, Commit, Durability, Plan, Question, Store } from '../contract.ts'
import { closedError, GroupCommit, type Transaction } from '../group-commit.ts'
import { Listeners } from '../listeners.ts'
import { systemClock } from '../system-clock.ts'
import { MemoryBlobs } from './blobs.ts'
import { MemoryTables } from './memory-tables.ts'
import { Tables } from './tables.ts'

export interface MemoryOptions {
  readonly clock?: Clock
  readonly random?: () => number
  readonly soon?: (task: () => void) => void
  /** Tables that several stores share, as several processes share a file. They outlive the stores. */
  readonly shared?: MemoryTables
  /** Wraps the tables for group commit: for tests that make writes fail. */
  readonly wrap?: (transaction: Transaction) => Transaction
}

/**
 * Opens a store in memory, which keeps nothing on disk: for tests, and for programs that need no durability.
 *
 * ```ts
 * const shared = new MemoryTables()
 * const store = await openMemory({ shared })
 * ```
 */
export async function openMemory(options: MemoryOptions = {}): Promise<Store> {
  return new MemoryStore(options)
}

export { MemoryTables }

class MemoryStore implements Store {
  readonly durability: Durability = { store: 'memory', survivesPowerCut: false, settings: {} }
  readonly blobs: Blobs
  readonly #tables: Tables
  readonly #group: GroupCommit
  readonly #listeners = new Listeners()
  readonly #leave: () => void
  #closed = false

  constructor(options: MemoryOptions) {
    const clock = options.clock ?? systemClock
    const soon = options.soon ?? ((task: () => void) => void setImmediate(task))
    const shared = options.shared ?? new MemoryTables()
    const nudge = () => soon(() => this.#nudge(shared.position))
    this.#tables = new Tables(
      shared,
      () => clock.now(),
      () => shared.nudgeOthers(nudge),
    )
    this.#group = new GroupCommit(options.wrap?.(this.#tables) ?? this.#tables, {
      clock,
      random: options.random ?? Math.random,
      soon,
      onCommit: (commit) => this.#listeners.notify(commit),
    })
    this.blobs = new MemoryBlobs({
      tables: shared,
      now: () => clock.now(),
      soon,
      isClosed: () => this.#closed,
    })
    this.#leave = shared.join(nudge)
  }

  async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
    if (this.#closed) throw closedError()
    return this.#tables.answer(question) as AnswerTo<Q>
  }

  write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    return this.#group.write(plan)
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#group.close()
    this.#closed = true
    this.#leave()
  }

  #nudge(position: number): void {
    if (!this.#closed) this.#listeners.notify({ after: position, position, events: null })
  }
}
