import { pause } from '../../base/pause.ts'
import type { Clock } from '../../core/clock.ts'
import { ReeveError } from '../../core/errors.ts'
import type { AnswerTo, Blobs, Commit, Durability, Plan, Question, Store } from '../contract.ts'
import { closedError } from '../group-commit.ts'
import { Listeners } from '../listeners.ts'
import { StoredBlobs } from '../stored-blobs.ts'
import { systemClock } from '../system-clock.ts'
import { UnreadableRows } from '../unreadable.ts'
import { PostgresBlobTable } from './blob-table.ts'
import { Facts, processKey } from './facts.ts'
import { Link, type LinkOptions } from './link.ts'
import { migrate } from './migrate.ts'
import { OptimisticCommit } from './optimistic-commit.ts'
import type { NumberedRow } from './statements/process.ts'
import { isStarting, toStoreError } from './store-errors.ts'
import { Tables } from './tables.ts'

export interface PostgresOptions {
  /** The schema of the tables; stores in one schema share them. Default `reeve`. */
  readonly schema?: string
  readonly clock?: Clock
  readonly random?: () => number
  readonly soon?: (task: () => void) => void
  /** The limit of connections: one writes, one listens, the others read. At least 3, default 4. */
  readonly maxConnections?: number
  /** How long to retry while the server is unreachable, before callers get an error. Default 10 seconds. */
  readonly reachMs?: number
}

/** PostgreSQL truncates longer names, and the channel is this name with a prefix. */
const MAX_SCHEMA_BYTES = 57
const OPEN_RETRY_MS = 200
/** The interval of polling, for the case that notifications are lost; usually they arrive at once. */
const POLL_MS = 5_000
/** Commits notify only stores whose row is fresh: an idle store refreshes its row this often, well within three minutes. */
const REFRESH_MS = 60_000
const END_SECONDS = 5
/** A commit that waits longer for a row is set aside, so that later ones need not wait. Most commits take less. */
const LOCK_MS = 250

/**
 * Opens a store in a PostgreSQL database, which any number of processes on any host may share. Creates its schema.
 *
 * ```ts
 * const store = await openPostgres('postgres://reeve:secret@localhost/reeve')
 * ```
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Store> {
  const clock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  const reachMs = options.reachMs ?? 10_000
  const schema = options.schema ?? 'reeve'
  const at = `${quoted(schema)}.`
  const where = nameOf(url)
  const connections = Math.max(3, options.maxConnections ?? 4)
  const link = (more: Pick<LinkOptions, 'connections' | 'planOnce' | 'lockMs'>) =>
    new Link(url, { clock, random, reachMs, ...more })
  const links = {
    write: link({ connections: 1, planOnce: true, lockMs: LOCK_MS }),
    read: link({ connections: connections - 2 }),
    listen: link({ connections: 1 }),
  }
  const begun = clock.now()
  for (;;) {
    try {
      // Opens the connection for reading at the same time. If that fails, the first read reports it.
      links.read.query('select 1').catch(() => undefined)
      const [durability] = await Promise.all([durabilityOf(links.write), migrate(links.write, schema, at)])
      const store = new PostgresStore(links, durability, {
        ...options,
        clock,
        random,
        at,
        where,
        channel: `reeve:${schema}`,
      })
      await store.begin().catch((error: unknown) => {
        store.abandon()
        throw error
      })
      return store
    } catch (error) {
      if (!isStarting(error) || clock.now() - begun > reachMs) {
        await Promise.all(Object.values(links).map((each) => each.end(0)))
        throw toStoreError(error, where)
      }
    }
    await pause(clock, random() * OPEN_RETRY_MS)
  }
}

interface Links {
  readonly write: Link
  readonly read: Link
  readonly listen: Link
}

interface Settings extends PostgresOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly at: string
  readonly where: string
  readonly channel: string
}

class PostgresStore implements Store {
  readonly durability: Durability
  readonly blobs: Blobs
  readonly #id = crypto.randomUUID()
  readonly #links: Links
  readonly #settings: Settings
  readonly #tables: Tables
  readonly #facts = new Facts()
  readonly #commits: OptimisticCommit
  readonly #listeners = new Listeners()
  #pollTimer: ReturnType<typeof setInterval> | undefined
  /** The last position that listeners know of. */
  #reported = 0
  #refreshedAt = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(links: Links, durability: Durability, settings: Settings) {
    const { clock, random, soon = nextTurn, where, at, channel } = settings
    this.durability = durability
    this.#links = links
    this.#settings = settings
    const unreadable = new UnreadableRows()
    this.#tables = new Tables(links.read, at, { unreadable })
    const facts = this.#facts
    const onRow = ({ version, row }: NumberedRow) => {
      const key = processKey(row.record.pid)
      if (version > (facts.get(key)?.version ?? 0)) facts.remember(key, { version, value: row })
    }
    const loading = new Tables(links.write, at, { unreadable, onRow })
    this.#commits = new OptimisticCommit(links.write, loading, facts, {
      clock,
      random,
      where,
      at,
      channel,
      store: this.#id,
      soon,
      onCommit: (commit) => this.#report(commit),
    })
    const blobs = new PostgresBlobTable(links.read, { at, where, isClosed: () => this.#closed })
    this.blobs = new StoredBlobs(blobs, soon)
  }

  /** Listens before the first question can be asked, so that no commit is missed in between. */
  async begin(): Promise<void> {
    await this.#commits.join()
    const listening = this.#links.listen.listen(
      this.#settings.channel,
      (message) => this.#receive(message),
      () => void this.#poll('always'),
    )
    const [position, epoch] = await Promise.all([this.#tables.position(), this.#tables.epoch(), listening])
    this.#facts.ruleSets.begin(epoch)
    this.#reported = Math.max(this.#reported, position)
    this.#pollTimer = setInterval(() => void this.#poll('if_new'), POLL_MS)
    this.#pollTimer.unref()
  }

  /** For a store that could not begin: its connection may still listen for a while. */
  abandon(): void {
    this.#closed = true
  }

  async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
    if (this.#closed) throw closedError()
    try {
      return (await this.#links.read.reach(() => this.#tables.answer(question))) as AnswerTo<Q>
    } catch (error) {
      throw this.#closed ? closedError() : toStoreError(error, this.#settings.where)
    }
  }

  write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    return this.#commits.write(plan)
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#pollTimer)
    await this.#commits.close()
    await Promise.all(Object.values(this.#links).map((link: Link) => link.end(END_SECONDS)))
  }

  #report(commit: Commit): void {
    this.#reported = Math.max(this.#reported, commit.position)
    this.#listeners.notify(commit)
  }

  /** A message is `<store>:<position>`; commits of this store have been reported already. */
  #receive(message: string): void {
    const [store, position] = message.split(':')
    if (!this.#closed && store !== this.#id) this.#nudge(Number(position))
  }

  async #poll(when: 'always' | 'if_new'): Promise<void> {
    if (this.#closed) return
    // If the position cannot be read now, the next poll reads it.
    const position = await this.#links.read.reach(() => this.#position(when)).catch(() => 0)
    if (!this.#closed && (position > this.#reported || (when === 'always' && position > 0)))
      this.#nudge(position)
  }

  async #position(when: 'always' | 'if_new'): Promise<number> {
    const now = this.#settings.clock.now()
    if (when === 'if_new' && now - this.#refreshedAt < REFRESH_MS) return this.#tables.position()
    const position = await this.#tables.stay(this.#id)
    this.#refreshedAt = now
    return position
  }

  #nudge(position: number): void {
    this.#report({ after: position, position, events: null })
  }
}

function nextTurn(task: () => void): void {
  setImmediate(task)
}

/** Read from the server: an administrator may have traded safety for speed. */
async function durabilityOf(link: Link): Promise<Durability> {
  const found = await link.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name`,
  )
  const settings = Object.fromEntries(found.map(({ name, setting }) => [name, setting]))
  const survivesPowerCut =
    settings['fsync'] === 'on' &&
    settings['full_page_writes'] === 'on' &&
    settings['synchronous_commit'] !== 'off'
  return { store: 'postgres', survivesPowerCut, settings }
}

/** Quotes the schema for statements, and for the bodies of functions, where `$` could end the text. */
function quoted(schema: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with one is refused
  if (schema === '' || Buffer.byteLength(schema) > MAX_SCHEMA_BYTES || /[$\x00-\x1f]/.test(schema)) {
    throw new ReeveError(
      'invalid_input',
      `${JSON.stringify(schema)} cannot be the name of a schema here.`,
      `Use 1 to ${MAX_SCHEMA_BYTES} bytes, without $ and control characters.`,
    )
  }
  return `"${schema.replaceAll('"', '""')}"`
}

/** The name of the database in messages, without the password. */
function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `The database ${host}${pathname}`
  } catch {
    return 'The database'
  }
}
