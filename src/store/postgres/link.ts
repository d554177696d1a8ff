import postgres from 'postgres'
import { pause } from '../../base/pause.ts'
import type { Clock } from '../../core/clock.ts'
import { isUnreachable, neverSent, noAnswer } from './trouble.ts'

export type Value = string | number | null | readonly (string | number | null)[]

export interface LinkOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly connections: number
  /** For statements that are the same every time, and whose plan does not depend on their values. */
  readonly planOnce?: boolean
  /** How long a statement waits for a lock. Without it, for as long as for an answer. */
  readonly lockMs?: number
  /** How long a server that is away is waited for; half of it for a single answer. */
  readonly reachMs: number
}

type Run = <Row extends object>(text: string, values?: readonly Value[]) => Promise<readonly Row[]>

const RETRY_MS = 50
/** Longer than holders take to renew: a store that is at work keeps its connections. */
const IDLE_SECONDS = 30
const PREPARED = { prepare: true }

/** Connections to the server that are made anew when they break: a query finds out, the next one goes on. */
export class Link {
  readonly #url: string
  readonly #options: LinkOptions
  #sql: postgres.Sql

  constructor(url: string, options: LinkOptions) {
    this.#url = url
    this.#options = options
    this.#sql = this.#connect()
  }

  /** One try. Rejects with what `isUnreachable` knows when no answer came: it may have happened or not. */
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

  /**
   * Tries again while the server cannot be reached, for a bounded time: only for what may happen twice.
   */
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

  /** A transaction. Texts without values may hold several statements. */
  async begin(work: (run: Run) => Promise<void>): Promise<void> {
    await this.#sql.begin(async (sql) => {
      await work((text, values) =>
        values === undefined
          ? sql.unsafe(text)
          : sql.unsafe(text, values as postgres.ParameterOrJSON<never>[]),
      )
    })
  }

  /** `onListen` is called whenever listening began: what was said before then is lost. */
  async listen(channel: string, onSaid: (said: string) => void, onListen: () => void): Promise<void> {
    await this.#sql.listen(channel, onSaid, onListen)
  }

  async end(seconds: number): Promise<void> {
    await this.#sql.end({ timeout: seconds })
  }

  /**
   * After a break the library (3.4.9) is not to be trusted with that client: what is sent between the error of a
   * socket and its end is never answered, or with nothing, by the greeting of the next connection, and what comes
   * after it may get the answers of others. Besides, a connection that only hangs would hang for a quarter of an hour.
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
      // What a client that was replaced still opens has to go by itself.
      idle_timeout: IDLE_SECONDS,
      fetch_types: false,
      onnotice: () => undefined,
      types: TYPES,
      connection: {
        application_name: 'reeve',
        // Commits see what others committed while they waited for a lock.
        default_transaction_isolation: 'read committed',
        // Every question has its index. A plan is kept for long: one that was right for ten rows must not be made,
        // because it would still be there when there are a million.
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

/** What the numbers here are: counts and milliseconds, far below 2^53. */
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
