import type { Commit } from '../contract.ts'
import { AUTHORITY, type Facts, keyOf, processKey, sessionKey } from './facts.ts'
import type { Link } from './link.ts'
import type { Staged } from './staged.ts'
import { commitStatements, type Writer } from './statements/commit.ts'
import {
  isContended,
  isGivenUp,
  isLocked,
  isRuleChange,
  isUnreachable,
  neverSent,
  toStoreError,
} from './store-errors.ts'
import type { Tables } from './tables.ts'

export interface CommitWriterOptions {
  readonly onCommit: (commit: Commit) => void
  /** The name of the database in messages. */
  readonly where: string
  /** The quoted schema with a dot. */
  readonly at: string
  readonly channel: string
  /** The id of this store. */
  readonly store: string
}

export type CommitAttempt =
  | { readonly type: 'done' }
  /** The facts were stale, and are forgotten; with an `error` if the server reported it. */
  | { readonly type: 'again'; readonly error?: unknown }
  /** Another transaction holds locks on these rows. */
  | { readonly type: 'locked'; readonly keys: readonly string[] }
  | { readonly type: 'failed'; readonly error: unknown; readonly isPlanFault: boolean }

/**
 * Writes the staged changes with one statement, which compares the facts and writes nothing if one has changed.
 *
 * Every commit carries the store's fence and a number of its own, and writes both. So when the connection breaks during a
 * commit, `settle` finds out whether it happened, and makes sure that it cannot happen later.
 */
export class CommitWriter {
  readonly #link: Link
  readonly #tables: Tables
  readonly #facts: Facts
  readonly #options: CommitWriterOptions
  readonly #statements: ReturnType<typeof commitStatements>
  /** Null before the store has joined, and while it is unknown whether the last commit happened. */
  #writer: Writer | null = null
  #commits = 0

  constructor(link: Link, tables: Tables, facts: Facts, options: CommitWriterOptions) {
    this.#link = link
    this.#tables = tables
    this.#facts = facts
    this.#options = options
    this.#statements = commitStatements(link, options.at)
  }

  /** Makes this store known to the server, so that the first commit need not. */
  async join(): Promise<void> {
    await this.#settle()
  }

  async leave(): Promise<void> {
    // A row that stays is removed by a later store.
    if (this.#writer !== null) await this.#statements.leave(this.#options.store).catch(() => undefined)
  }

  async commit(staged: Staged): Promise<CommitAttempt> {
    if (!staged.changed) return this.#compare(staged)
    const writer = this.#writer ?? (await this.#settle()).writer
    const number = ++this.#commits
    let position: number | null
    try {
      const answer = await this.#statements.commit(staged, writer, number, this.#options.channel)
      if (answer.type === 'stale') return this.#again(answer.keys)
      position = answer.position
    } catch (error) {
      if (isLocked(error)) return this.#locked(staged)
      if (isRuleChange(error)) return this.#again([AUTHORITY], error)
      // The error does not name the row, so no fact is trusted any more.
      if (isContended(error)) return this.#again(staged.guards.keys(), error)
      if (!isUnreachable(error) && !isGivenUp(error)) throw error
      const last = await this.#lastCommit()
      if (last === 'unknown')
        return {
          type: 'failed',
          error: toStoreError(error, this.#options.where, !neverSent(error)),
          isPlanFault: false,
        }
      if (last.commit !== number) return this.#again(staged.guards.keys())
      position = last.position
    }
    this.#remember(staged)
    if (position !== null) this.#report(staged, position)
    return { type: 'done' }
  }

  /** For plans that write nothing: the facts that they were decided on must still hold, all at one moment. */
  async #compare(staged: Staged): Promise<CommitAttempt> {
    if (staged.guards.size === 0 && staged.epoch === null) return { type: 'done' }
    const stale = await this.#link.reach(() => this.#statements.stale(staged))
    return stale.length > 0 ? this.#again(stale) : { type: 'done' }
  }

  #again(staleKeys: Iterable<string>, error?: unknown): CommitAttempt {
    this.#facts.forgetStale(staleKeys)
    return { type: 'again', error }
  }

  /**
   * Finds the locked rows, so that other plans which need them are set aside at once. If it cannot, each of those plans waits
   * for its own lock timeout.
   */
  async #locked(staged: Staged): Promise<CommitAttempt> {
    const pids = [...staged.guards.values()].flatMap(({ question, version }) =>
      question.ask === 'process' && version > 0 ? [question.pid] : [],
    )
    const found = await this.#link.reach(() => this.#statements.locked(pids)).catch(() => [])
    this.#facts.forgetStale(staged.guards.keys())
    return { type: 'locked', keys: found.map(processKey) }
  }

  async #lastCommit(): Promise<{ commit: number; position: number | null } | 'unknown'> {
    this.#writer = null
    try {
      return await this.#settle()
    } catch {
      return 'unknown'
    }
  }

  async #settle(): Promise<{ writer: Writer; commit: number; position: number | null }> {
    const { store } = this.#options
    const { fence, commit, position } = await this.#link.reach(() => this.#statements.settle(store))
    const writer = { store, fence }
    this.#writer = writer
    return { writer, commit, position }
  }

  #remember(staged: Staged): void {
    const facts = this.#facts
    facts.forgetLoaded()
    for (const [pid, { next, value }] of staged.processes)
      facts.remember(processKey(pid), { version: next, value })
    const {
      sessions,
      turns,
      groups,
      inboxes,
      accounts,
      approvals,
      ruleUses,
      auditWindows,
      schedules,
      liens,
      revocations,
      triggers,
      deliveries,
    } = staged
    for (const rows of [
      ...[sessions, turns, groups, inboxes, accounts],
      ...[approvals, ruleUses, auditWindows, schedules, liens, revocations, triggers, deliveries],
    ])
      for (const [key, { next, value }] of rows)
        if (value === null) facts.forget([key])
        else facts.remember(key, { version: next, value })
    const ruleSets = [...staged.ruleSets].filter(([, { base, value }]) => base !== null || value !== null)
    if (ruleSets.length > 0)
      facts.ruleSets.raise(ruleSets.map(([subject, { value }]) => [subject, value] as const))
    for (const [ref, value] of staged.environments)
      facts.remember(keyOf({ ask: 'environment', ref }), { version: 1, value })
    facts.forget([...staged.tombstones.keys()].map(processKey))
    this.#tables.forgetPruned([...staged.tombstones.keys()])
    facts.forget([...staged.goneSessions].map(sessionKey))
    facts.forget(staged.endedUses.map(({ ref }) => keyOf({ ask: 'environment', ref })))
  }

  #report(staged: Staged, position: number): void {
    const after = position - staged.events.length
    const events = staged.events.map((event, index) => ({ ...event, position: after + index + 1 }))
    this.#options.onCommit({ after, position, events })
  }
}
