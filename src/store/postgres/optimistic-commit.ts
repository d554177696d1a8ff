import { pause } from '../../base/pause.ts'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import type { Clock } from '../../core/clock.ts'
import type { Plan, Question } from '../contract.ts'
import { closedError } from '../group-commit.ts'
import { CommitWriter, type CommitWriterOptions } from './commit-writer.ts'
import { type Facts, keyOf } from './facts.ts'
import type { Link } from './link.ts'
import { type Pass, type PendingPlan, runPlans } from './run-plans.ts'
import { SetAside } from './set-aside.ts'
import { busy, isPlanFault, locked, toStoreError } from './store-errors.ts'
import type { Tables } from './tables.ts'

export interface OptimisticCommitOptions extends CommitWriterOptions {
  readonly clock: Clock
  readonly random: () => number
  /** Runs a task on the next turn of the loop. */
  readonly soon: (task: () => void) => void
}

/** Bounds one statement: a commit has at most this many plans, and the rest waits for the next. */
const MAX_BATCH = 512
/** Attempts for a whole batch, before each of its plans is tried alone. */
const MAX_ATTEMPTS_TOGETHER = 4
const MAX_ATTEMPTS_ALONE = 30
/** If a unique key is taken at each of so many attempts, though the facts were fresh, no rival has taken it. */
const MAX_ATTEMPTS_UNIQUE = 3
/** Pauses between attempts grow to this: a few times the duration of a rival's commit. */
const MAX_RETRY_MS = 32
/** How long a plan whose row another transaction has locked is retried, while others go on. */
const MAX_BLOCKED_MS = 20_000
/** Rounds of loading per attempt. A plan that needs more asks something new each time, and would never end. */
const MAX_ROUNDS = 1_000

interface Waiting extends PendingPlan {
  /** When it first met a row that another transaction had locked. */
  blockedSince?: number
}

type Attempt =
  | { readonly type: 'done'; readonly taken: number }
  /** The facts were stale, and are forgotten; with an `error` if the server reported it. */
  | { readonly type: 'again'; readonly error?: unknown }
  | { readonly type: 'failed'; readonly error: unknown; readonly isPlanFault: boolean }
  /** Another transaction has locked a row, and keeps it. */
  | { readonly type: 'blocked' }

/**
 * Commits all plans that arrive in one turn of the loop together, and answers each caller after the commit. Plans are decided
 * here, on facts that may be stale; the one statement that writes compares the facts, and writes nothing if one has changed.
 * Then the batch is decided again.
 *
 * | state  | write            | turn                                                          |
 * | idle   | waits, armed     | –                                                             |
 * | armed  | waits            | busy, with up to MAX_BATCH plans                              |
 * | busy   | waits            | when they are committed: armed again if others wait, or idle  |
 *
 * A plan that needs a row which another transaction has locked is set aside, and waits again a little later. Closing commits
 * the plans that wait, and rejects later ones.
 */
export class OptimisticCommit {
  readonly #link: Link
  readonly #tables: Tables
  readonly #facts: Facts
  readonly #options: OptimisticCommitOptions
  readonly #writer: CommitWriter
  #waiting: Waiting[] = []
  #state: 'idle' | 'armed' | 'busy' = 'idle'
  #closing = false
  #whenIdle = (): void => undefined
  readonly #aside: SetAside<Waiting>

  constructor(link: Link, tables: Tables, facts: Facts, options: OptimisticCommitOptions) {
    this.#link = link
    this.#tables = tables
    this.#facts = facts
    this.#options = options
    this.#writer = new CommitWriter(link, tables, facts, options)
    this.#aside = new SetAside(options.clock, (waiting) => {
      this.#waiting.unshift(...waiting)
      if (this.#state === 'idle') this.#arm()
    })
  }

  write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    if (this.#closing) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ plan, resolve, reject })
      if (this.#state === 'idle') this.#arm()
    })
  }

  /** Makes this store known to the server, so that the first commit need not. */
  join(): Promise<void> {
    return this.#writer.join()
  }

  /** Earlier writes are committed, or rejected in bounded time; later ones are rejected. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    if (this.#state !== 'idle' || !this.#aside.isEmpty)
      await new Promise<void>((resolve) => (this.#whenIdle = resolve))
    await this.#writer.leave()
  }

  #arm(): void {
    this.#state = 'armed'
    this.#options.soon(() => {
      this.#state = 'busy'
      void this.#turn()
    })
  }

  async #turn(): Promise<void> {
    const batch = this.#waiting.splice(0, MAX_BATCH)
    try {
      await this.#commitTogether(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#facts.forgetLoaded()
    this.#facts.ruleSets.trim()
    if (this.#waiting.length > 0) {
      this.#arm()
      return
    }
    this.#state = 'idle'
    if (this.#aside.isEmpty) this.#whenIdle()
  }

  async #commitTogether(batch: readonly Waiting[]): Promise<void> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS_TOGETHER; attempts++) {
      const attempt = await this.#attempt(batch, attempts === 0)
      if (attempt.type === 'done') {
        this.#waiting.unshift(...batch.slice(attempt.taken))
        return
      }
      if (attempt.type === 'blocked') break
      if (attempt.type === 'failed') {
        if (attempt.isPlanFault) break
        for (const { reject } of batch) reject(attempt.error)
        return
      }
    }
    // One plan's impossible change, or one contended row, must not hold its neighbours back.
    for (const waiting of batch) await this.#commitAlone(waiting)
  }

  async #commitAlone(waiting: Waiting): Promise<void> {
    const { clock, random, where } = this.#options
    let taken = 0
    for (let attempts = 0; attempts < MAX_ATTEMPTS_ALONE; attempts++) {
      if (attempts > 0) await pause(clock, random() * Math.min(2 ** attempts, MAX_RETRY_MS))
      const attempt = await this.#attempt([waiting], false)
      if (attempt.type === 'done') return
      if (attempt.type === 'blocked') {
        this.#setAside(waiting)
        return
      }
      if (attempt.type === 'failed') {
        waiting.reject(attempt.error)
        return
      }
      if (isPlanFault(attempt.error) && ++taken === MAX_ATTEMPTS_UNIQUE) {
        waiting.reject(toStoreError(attempt.error, where))
        return
      }
    }
    waiting.reject(busy(where))
  }

  /** Other plans go on meanwhile. */
  #setAside(waiting: Waiting): void {
    const { clock, where } = this.#options
    waiting.blockedSince ??= clock.now()
    if (clock.now() - waiting.blockedSince > MAX_BLOCKED_MS) waiting.reject(locked(where))
    else this.#aside.add(waiting)
  }

  /** Decides the plans, loads the facts that they need, and commits. */
  async #attempt(batch: readonly Waiting[], optimistic: boolean): Promise<Attempt> {
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const pass = runPlans(batch, this.#facts, optimistic)
        if (pass.type === 'ran') return await this.#commit(pass)
        if (pass.type === 'stale') {
          this.#facts.forgetStale([])
          return { type: 'again' }
        }
        await this.#load(pass.questions)
      }
      const error = new Error(`A plan asked for more than ${MAX_ROUNDS} rounds`)
      return { type: 'failed', error, isPlanFault: true }
    } catch (error) {
      return {
        type: 'failed',
        error: toStoreError(error, this.#options.where),
        isPlanFault: isPlanFault(error),
      }
    }
  }

  async #commit({ staged, answers }: Extract<Pass, { type: 'ran' }>): Promise<Attempt> {
    if (staged.changed && this.#aside.concerns(staged.guards.keys())) {
      this.#facts.forgetStale(staged.guards.keys())
      return { type: 'blocked' }
    }
    const attempt = await this.#writer.commit(staged)
    if (attempt.type === 'locked') {
      this.#aside.note(attempt.keys)
      return { type: 'blocked' }
    }
    if (attempt.type !== 'done') return attempt
    for (const answer of answers) answer()
    return { type: 'done', taken: answers.length }
  }

  async #load(questions: readonly Question[]): Promise<void> {
    const facts = await this.#link.reach(() => this.#tables.load(questions))
    for (const question of questions) {
      const key = keyOf(question)
      const fact = facts.get(key)
      if (fact === undefined) continue
      if (question.ask === 'ruleSet') {
        this.#facts.ruleSets.learn(fact.version, question.subject, fact.value as RuleSet | null)
        continue
      }
      if (fact.version > 0 && LASTING.has(question.ask)) this.#facts.remember(key, fact)
      // Also for this batch alone: a batch that needs more rows than the cache holds would load them again and again.
      this.#facts.load(key, fact)
    }
  }
}

/** The commit compares these, or they never change. */
const LASTING: ReadonlySet<Question['ask']> = new Set([
  'process',
  'session',
  'turn',
  'group',
  'inbox',
  'account',
  'schedule',
  'liens',
  'revocation',
  'trigger',
  'delivery',
  'approval',
  'ruleUse',
  'auditWindow',
  'environment',
  'announced',
  'secret',
])
