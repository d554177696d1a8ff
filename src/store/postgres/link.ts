import postgres from 'postgres'
import { pause } from '../../base/pause.ts'
import type { Clock } from '../../core/clock.ts'
import { isUnreachable, neverSent, noAnswer } from './store-errors.ts'

export type Value = string | number | null | Uint8Array | readonly (string | number | null)[]

export interface LinkOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly connections: number
  /** For statements whose text never changes and whose plan does not depend on their values. */
  readonly planOnce?: boolean
  /** How long a statement waits for a lock; by default as long as for an answer. */
  readonly lockMs?: number
  /** How long to retry while the server is unreachable; a single answer may take half of it. */
  readonly reachMs: number
}

export type Run = <Row extends object>(text: string, values?: readonly Value[]) => Promise<readonly Row[]>

const RETRY_MS = 50
/** Longer than the interval of renewals: a store that is in use keeps its connections. */
const IDLE_SECONDS = 30
const PREPARED = { prepare: true }

/** Connections to the server. When one breaks, a query fails, and the next query gets a new connection. */
export class Link {
  readonly #url: string
  readonly #options: LinkOptions
  #sql: postgres.Sql

  constructor(url: string, options: LinkOptions) {
    this.#url = url
    this.#options = options
    this.#sql = this.#connect()
  }

  /** One attempt. If no answer comes, it rejects with an error that `isUnreachable` knows: the statement may have run or not. */
  async query<Row extends object>(text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    const sql = this.#sql
    const { clock, reachMs } = this.#options
    const answerMs = reachMs / 2
    return new Promise((resolve, reject) => {
      const lost = (error: unknown) => {
        if (isUnreachable(error) && !neverSent(error)) this.#replace(sql)
        reject(error)
      }
      const cancel = clock.after(answerMs, () => lost(noAnswer(answerMs)))
      sql.unsafe<Row[]>(text, values as postgres.ParameterOrJSON<never>[], PREPARED).then(
        (rows) => {
          cancel()
          // An answer from the server names its command; see `#replace` for the other kind.
          if (rows.command) resolve(rows)
          else lost(noAnswer(answerMs))
        },
        (error) => {
          cancel()
          lost(error)
        },
      )
    })
  }

  /** Retries while the server cannot be reached, for a bounded time. Only for statements that may run twice. */
  async reach<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
    const { clock, random, reachMs } = this.#options
    const begun = clock.now()
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!isUnreachable(error) || clock.now() - begun > reachMs) throw error
      }
      await pause(clock, (0.5 + random()) * RETRY_MS)
    }
  }

  /** Runs a transaction. A text without values may hold several statements. */
  async begin(work: (run: Run) => Promise<void>): Promise<void> {
    await this.#sql.begin(async (sql) => {
      await work((text, values) =>
        values === undefined
          ? sql.unsafe(text)
          : sql.unsafe(text, values as postgres.ParameterOrJSON<never>[]),
      )
    })
  }

  /** `onListen` is called whenever listening begins, also after a break: earlier messages are lost. */
  async listen(channel: string, onMessage: (message: string) => void, onListen: () => void): Promise<void> {
    await this.#sql.listen(channel, onMessage, onListen)
  }

  async end(seconds: number): Promise<void> {
    await this.#sql.end({ timeout: seconds })
  }

  /**
   * After a break the library's client (3.4.9) is unusable. A query that is sent between the error of a socket and its end is
   * never answered, or gets an empty answer with the greeting of the next connection, and later queries may get the answers
   * of others. Besides, a connection that hangs would hang for a quarter of an hour.
   */
  #replace(sql: postgres.Sql): void {
    if (sql !== this.#sql) return
    this.#sql = this.#connect()
    sql.end({ timeout: 0 }).catch(() => undefined)
  }

  #connect(): postgres.Sql {
    return postgres(this.#url, {
      max: this.#options.connections,
      connect_timeout: Math.max(1, Math.ceil(this.#options.reachMs / 1000)),
      backoff: (tries) => (0.5 + this.#options.random() / 2) * Math.min(0.02 * 2 ** tries, 0.5),
      // Closes connections that a replaced client still opens.
      idle_timeout: IDLE_SECONDS,
      fetch_types: false,
      onnotice: () => undefined,
      types: TYPES,
      connection: {
        application_name: 'reeve',
        // A commit has to see the commits of others while it waited for a lock.
        default_transaction_isolation: 'read committed',
        // Every question has its index. Plans are cached for long: a plan that suits ten rows would still be used for a
        // million.
        enable_seqscan: 'off',
        enable_hashjoin: 'off',
        enable_mergejoin: 'off',
        jit: 'off',
        ...(this.#options.lockMs === undefined ? {} : { lock_timeout: this.#options.lockMs }),
        ...(this.#options.planOnce ? { plan_cache_mode: 'force_generic_plan' } : {}),
      },
    }) as postgres.Sql
  }
}

/** All numbers here are counts and milliseconds, far below 2^53. */
const TYPES = {
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  bigints: { to: 1016, from: [1016], serialize: numbers, parse: String },
  texts: { to: 1009, from: [1009], serialize: texts, parse: String },
}

function numbers(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`
}

function texts(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'null' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`
}
