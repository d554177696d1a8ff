import { pause } from '../../base/pause.ts'
import type { Clock } from '../../core/clock.ts'
import { ReeveError } from '../../core/errors.ts'
import type { AnswerTo, Commit, Durability, Plan, Question, Store } from '../contract.ts'
import { closed } from '../group-commit.ts'
import { Listeners } from '../listeners.ts'
import { systemClock } from '../system-clock.ts'
import { UnreadableRows } from '../unreadable.ts'
import { Facts, processKey } from './facts.ts'
import { Link, type LinkOptions } from './link.ts'
import { migrate } from './migrate.ts'
import { OptimisticCommit } from './optimistic-commit.ts'
import type { NumberedRow } from './statements/process.ts'
import { Tables } from './tables.ts'
import { isStarting, trouble } from './trouble.ts'

export interface PostgresOptions {
  /** Where the tables lie; stores in one schema share them. Default `reeve`. */
  readonly schema?: string
  readonly clock?: Clock
  readonly random?: () => number
  readonly soon?: (task: () => void) => void
  /** At most so many connections: one writes, one listens, the others read. At least 3, default 4. */
  readonly maxConnections?: number
  /** How long a server that is away is waited for before callers are told. Default 10 seconds. */
  readonly reachMs?: number
}

/** PostgreSQL cuts longer names off, and the channel is this name with a prefix. */
const SCHEMA_BYTES = 57
const OPEN_RETRY_MS = 200
/** A safety net for a connection that listens and no longer hears; what is told comes at once. */
const LOOK_MS = 5_000
/** Others tell only those who are there: a store that writes nothing says so this often, well within their three minutes. */
const STAY_MS = 60_000
const END_SECONDS = 5
/** A commit that waits longer for a row is put off, so that those behind it need not wait, too. Others commit in less. */
const LOCK_MS = 250

/**
 * Opens a store in a PostgreSQL database, which any number of processes on any host may share. Makes its schema.
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
      // The connection for reading is made meanwhile; if it cannot be, whoever reads is told.
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
        throw trouble(error, where)
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
  readonly #id = crypto.randomUUID()
  readonly #links: Links
  readonly #settings: Settings
  readonly #tables: Tables
  readonly #commits: OptimisticCommit
  readonly #listeners = new Listeners()
  #look: ReturnType<typeof setInterval> | undefined
  /** The last position that listeners have been told of. */
  #told = 0
  #stayedAt = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(links: Links, durability: Durability, settings: Settings) {
    const { clock, random, soon, where, at, channel } = settings
    this.durability = durability
    this.#links = links
    this.#settings = settings
    const unreadable = new UnreadableRows()
    this.#tables = new Tables(links.read, at, { unreadable })
    const facts = new Facts()
    const seen = ({ version, row }: NumberedRow) => {
      const key = processKey(row.record.pid)
      if (version > (facts.get(key)?.version ?? 0)) facts.remember(key, { version, value: row })
    }
    const loading = new Tables(links.write, at, { unreadable, seen })
    this.#commits = new OptimisticCommit(links.write, loading, facts, {
      ...{ clock, random, where, at, channel, store: this.#id },
      soon: soon ?? ((task) => void setImmediate(task)),
      onCommit: (commit) => this.#tell(commit),
    })
  }

  /** Listens before anybody can ask, so that nothing falls between. */
  async begin(): Promise<void> {
    await this.#commits.join()
    const listening = this.#links.listen.listen(
      this.#settings.channel,
      (said) => this.#hear(said),
      () => void this.#lookAround('always'),
    )
    const [position] = await Promise.all([this.#tables.position(), listening])
    this.#told = Math.max(this.#told, position)
    this.#look = setInterval(() => void this.#lookAround('if_new'), LOOK_MS)
    this.#look.unref()
  }

  /** It could not begin: what it listens to may go on, and concerns another one. */
  abandon(): void {
    this.#closed = true
  }

  async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
    if (this.#closed) throw closed()
    try {
      return (await this.#links.read.reach(() => this.#tables.answer(question))) as AnswerTo<Q>
    } catch (error) {
      throw this.#closed ? closed() : trouble(error, this.#settings.where)
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
    clearInterval(this.#look)
    await this.#commits.close()
    await Promise.all(Object.values(this.#links).map((link: Link) => link.end(END_SECONDS)))
  }

  #tell(commit: Commit): void {
    this.#told = Math.max(this.#told, commit.position)
    this.#listeners.tell(commit)
  }

  /** What others said is `<store>:<position>`; what this store said itself it has told already. */
  #hear(said: string): void {
    const [store, position] = said.split(':')
    if (!this.#closed && store !== this.#id) this.#nudge(Number(position))
  }

  async #lookAround(when: 'always' | 'if_new'): Promise<void> {
    if (this.#closed) return
    // What cannot be asked now is asked the next time, at the latest.
    const position = await this.#links.read.reach(() => this.#position(when)).catch(() => 0)
    if (!this.#closed && (position > this.#told || (when === 'always' && position > 0))) this.#nudge(position)
  }

  async #position(when: 'always' | 'if_new'): Promise<number> {
    const now = this.#settings.clock.now()
    if (when === 'if_new' && now - this.#stayedAt < STAY_MS) return this.#tables.position()
    const position = await this.#tables.stay(this.#id)
    this.#stayedAt = now
    return position
  }

  #nudge(position: number): void {
    this.#tell({ after: position, position, events: null })
  }
}

/** Read, not believed: an administrator may have traded safety for speed. */
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

/** As an identifier in a statement, and inside a function's body, where `$` would end the text. */
function quoted(schema: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with one is refused
  if (schema === '' || Buffer.byteLength(schema) > SCHEMA_BYTES || /[$\x00-\x1f]/.test(schema)) {
    throw new ReeveError(
      'invalid_input',
      `${JSON.stringify(schema)} cannot be the name of a schema here.`,
      `Use 1 to ${SCHEMA_BYTES} bytes, without $ and control characters.`,
    )
  }
  return `"${schema.replaceAll('"', '""')}"`
}

/** Without the password: it is for messages. */
function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `The database ${host}${pathname}`
  } catch {
    return 'The database'
  }
}
