import { pause } from '../../base/pause.ts'
import type { Clock } from '../../core/clock.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Commit, Plan, Question, Verdict } from '../contract.ts'
import { closed } from '../group-commit.ts'
import { type Facts, keyOf, processKey, sessionKey } from './facts.ts'
import type { Link } from './link.ts'
import { SetAside } from './set-aside.ts'
import { LATER, MISSING, type Reading, STALE, Staged } from './staged.ts'
import { commitStatements, type Writer } from './statements/commit.ts'
import type { Tables } from './tables.ts'
import {
  busy,
  isContended,
  isGivenUp,
  isLocked,
  isOwn,
  isUnreachable,
  locked,
  neverSent,
  trouble,
} from './trouble.ts'

export interface OptimisticCommitOptions {
  readonly clock: Clock
  readonly random: () => number
  /** Runs a task on the next turn of the loop. */
  readonly soon: (task: () => void) => void
  readonly onCommit: (commit: Commit) => void
  /** How the database is called in messages. */
  readonly where: string
  readonly at: string
  readonly channel: string
  readonly store: string
}

/** Bounds one statement: so many plans per commit, the rest in the next. */
const BATCH = 512
/** Tries of a whole batch, before each of its plans is tried alone. */
const TRIES_TOGETHER = 4
const TRIES_ALONE = 30
/** A unique key that is taken each time, though the facts were fresh, was not taken by a rival. */
const TRIES_UNIQUE = 3
/** Waits between tries grow to this: about the time that a rival's commit takes, a few times over. */
const RETRY_MS = 32
/** How long a plan whose row another transaction has locked is tried again, while others go on. */
const MAX_BLOCKED_MS = 20_000
/** Rounds of loading per try. A plan that needs more asks for something new each time, and would never end. */
const ROUNDS = 1_000

interface Waiting {
  readonly plan: Plan<unknown>
  /** When it first met a row that another transaction had locked. */
  blockedSince?: number
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/** What came of running a batch's plans on the facts at hand. */
type Pass =
  | { readonly type: 'missing'; readonly questions: readonly Question[] }
  | { readonly type: 'stale' }
  /** So many of the plans have run; the next one has to see them committed. */
  | { readonly type: 'ran'; readonly staged: Staged; readonly settle: readonly (() => void)[] }

type Try =
  | { readonly type: 'done'; readonly taken: number }
  /** The facts were old, and are forgotten; `error` if the server had to say so. */
  | { readonly type: 'again'; readonly error?: unknown }
  | { readonly type: 'failed'; readonly error: unknown; readonly own: boolean }
  /** Another transaction has locked a row, and keeps it. */
  | { readonly type: 'blocked' }

/**
 * Commits together what arrived in one turn of the loop, and answers each caller only after the commit. Plans are
 * decided here, on facts that may be old; the one statement that writes compares them, and writes nothing if one has
 * changed. Then the batch is decided again.
 *
 * | state  | write            | turn                                                          |
 * | idle   | waits, armed     | –                                                             |
 * | armed  | waits            | busy, with up to BATCH plans                                  |
 * | busy   | waits            | when they are committed: armed again if others wait, or idle  |
 *
 * A plan that needs a row which another transaction has locked is set aside, and waits again a little later.
 *
 * Closing lets what waits be committed, and rejects what comes. Every commit carries the store's fence and a number of its own, which are written with it. So when the connection
 * breaks during a commit, `settle` finds out whether it happened, and makes sure that it cannot happen later.
 */
export class OptimisticCommit {
  readonly #link: Link
  readonly #tables: Tables
  readonly #facts: Facts
  readonly #options: OptimisticCommitOptions
  readonly #statements: ReturnType<typeof commitStatements>
  #waiting: Waiting[] = []
  #state: 'idle' | 'armed' | 'busy' = 'idle'
  #closing = false
  #whenIdle = ignore
  /** Null when it is not known, or whether the last commit happened is not. */
  #writer: Writer | null = null
  #commits = 0
  readonly #aside: SetAside<Waiting>

  constructor(link: Link, tables: Tables, facts: Facts, options: OptimisticCommitOptions) {
    this.#link = link
    this.#tables = tables
    this.#facts = facts
    this.#options = options
    this.#statements = commitStatements(link, options.at)
    this.#aside = new SetAside(options.clock, (waiting) => {
      this.#waiting.unshift(...waiting)
      if (this.#state === 'idle') this.#arm()
    })
  }

  write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    if (this.#closing) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ plan, resolve, reject })
      if (this.#state === 'idle') this.#arm()
    })
  }

  /** Makes this store known to the server, so that the first commit need not. */
  async join(): Promise<void> {
    await this.#settle()
  }

  /** Everything that was asked before is committed, or rejected in bounded time; later writes are rejected. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    if (this.#state !== 'idle' || !this.#aside.isEmpty)
      await new Promise<void>((resolve) => (this.#whenIdle = resolve))
    if (this.#writer !== null) await this.#statements.leave(this.#options.store).catch(ignore)
  }

  #arm(): void {
    this.#state = 'armed'
    this.#options.soon(() => {
      this.#state = 'busy'
      void this.#turn()
    })
  }

  async #turn(): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH)
    try {
      await this.#commitTogether(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#facts.forgetLoaded()
    if (this.#waiting.length > 0) {
      this.#arm()
      return
    }
    this.#state = 'idle'
    if (this.#aside.isEmpty) this.#whenIdle()
  }

  /** Holds nothing up meanwhile. */
  #setAside(waiting: Waiting): void {
    const { clock, where } = this.#options
    waiting.blockedSince ??= clock.now()
    if (clock.now() - waiting.blockedSince > MAX_BLOCKED_MS) waiting.reject(locked(where))
    else this.#aside.add(waiting)
  }

  async #commitTogether(batch: readonly Waiting[]): Promise<void> {
    for (let tries = 0; tries < TRIES_TOGETHER; tries++) {
      const tried = await this.#try(batch, tries === 0)
      if (tried.type === 'done') {
        this.#waiting.unshift(...batch.slice(tried.taken))
        return
      }
      if (tried.type === 'blocked') break
      if (tried.type === 'failed') {
        if (!tried.own) {
          for (const { reject } of batch) reject(tried.error)
          return
        }
        break
      }
    }
    // One plan's impossible change, or one contended row, must not hold its neighbours back.
    for (const waiting of batch) await this.#commitAlone(waiting)
  }

  async #commitAlone(waiting: Waiting): Promise<void> {
    const { clock, random, where } = this.#options
    let taken = 0
    for (let tries = 0; tries < TRIES_ALONE; tries++) {
      if (tries > 0) await pause(clock, random() * Math.min(2 ** tries, RETRY_MS))
      const tried = await this.#try([waiting], false)
      if (tried.type === 'done') return
      if (tried.type === 'blocked') {
        this.#setAside(waiting)
        return
      }
      if (tried.type === 'failed') {
        waiting.reject(tried.error)
        return
      }
      if (isOwn(tried.error) && ++taken === TRIES_UNIQUE) {
        waiting.reject(trouble(tried.error, where))
        return
      }
    }
    waiting.reject(busy(where))
  }

  /** Decides, loading what has to be known, and commits. */
  async #try(batch: readonly Waiting[], optimistic: boolean): Promise<Try> {
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const pass = this.#run(batch, optimistic)
        if (pass.type === 'ran') return await this.#commit(pass)
        if (pass.type === 'stale') return this.#again([])
        await this.#load(pass.questions)
      }
      return { type: 'failed', error: new Error(`A plan asked for more than ${ROUNDS} rounds`), own: true }
    } catch (error) {
      return { type: 'failed', error: trouble(error, this.#options.where), own: isOwn(error) }
    }
  }

  #again(staleKeys: Iterable<string>, error?: unknown): Try {
    this.#facts.forget(staleKeys)
    this.#facts.forgetLoaded()
    return { type: 'again', error }
  }

  async #load(questions: readonly Question[]): Promise<void> {
    const facts = await this.#link.reach(() => this.#tables.load(questions))
    for (const question of questions) {
      const key = keyOf(question)
      const fact = facts.get(key)
      if (fact === undefined) continue
      if (fact.version > 0 && LASTING.has(question.ask)) this.#facts.remember(key, fact)
      // Also for this batch alone: one that needs more rows than are kept would load them again and again.
      this.#facts.load(key, fact)
    }
  }

  /** Runs the plans one after another, each on what those before it changed, as far as everything is known. */
  #run(batch: readonly Waiting[], optimistic: boolean): Pass {
    const staged = new Staged(this.#facts, optimistic)
    const settle: (() => void)[] = []
    const missing = new Map<string, Question>()
    for (const waiting of batch) {
      const ran = this.#runOne(waiting, staged)
      if (ran === LATER) break
      if (ran === STALE) return { type: 'stale' }
      if (typeof ran === 'function') settle.push(ran)
      else for (const question of ran) missing.set(keyOf(question), question)
      if (staged.isFinal) break
    }
    return missing.size > 0
      ? { type: 'missing', questions: [...missing.values()] }
      : { type: 'ran', staged, settle }
  }

  #runOne(
    { plan, resolve, reject }: Waiting,
    staged: Staged,
  ): (() => void) | readonly Question[] | typeof LATER | typeof STALE {
    const reading: Reading = { guards: new Map(), assumed: new Map() }
    // A plan that throws has a defect, and is its caller's alone; but what it was told has to be true.
    const defect = (error: unknown) => {
      const unproved = staged.unproved([], reading)
      if (unproved.length > 0) return unproved
      staged.apply([], reading)
      return () => reject(error)
    }
    let verdict: Verdict<unknown>
    try {
      const steps = plan()
      let known: readonly unknown[] = []
      for (;;) {
        const step = steps.next(known)
        if (step.done) {
          verdict = step.value
          break
        }
        const answers = step.value.map((question) => staged.answer(question, reading))
        if (answers.includes(LATER)) return LATER
        if (answers.includes(MISSING)) return step.value.filter((_, index) => answers[index] === MISSING)
        known = answers
      }
    } catch (error) {
      return defect(error)
    }
    const { answer, changes } = verdict
    const unproved = staged.unproved(changes, reading)
    if (unproved.length > 0) return unproved
    try {
      const applied = staged.apply(changes, reading)
      return applied === 'applied' ? () => resolve(answer as never) : applied
    } catch (error) {
      return defect(error)
    }
  }

  async #commit({ staged, settle }: Extract<Pass, { type: 'ran' }>): Promise<Try> {
    if (!staged.changed) {
      if (staged.guards.size > 0) {
        const stale = await this.#link.reach(() => this.#statements.stale(staged))
        if (stale.length > 0) return this.#again(stale)
      }
      return this.#done(settle)
    }
    if (this.#aside.concerns(staged.guards.keys())) return this.#blocked(staged)
    const writer = this.#writer ?? (await this.#settle())
    const number = ++this.#commits
    let position: number | null
    try {
      const answer = await this.#statements.commit(staged, writer, number, this.#options.channel)
      if (answer.type === 'stale') return this.#again(answer.keys)
      position = answer.position
    } catch (error) {
      if (isLocked(error)) {
        await this.#findLocked(staged)
        return this.#blocked(staged)
      }
      // Which row it was about is not said, so nothing is believed any more.
      if (isContended(error)) return this.#again(staged.guards.keys(), error)
      if (!isUnreachable(error) && !isGivenUp(error)) throw error
      const last = await this.#whatHappened()
      if (last === 'unknown') {
        return { type: 'failed', error: trouble(error, this.#options.where, !neverSent(error)), own: false }
      }
      if (last.commit !== number) return this.#again(staged.guards.keys())
      position = last.position
    }
    this.#remember(staged)
    if (position !== null) this.#tell(staged, position)
    return this.#done(settle)
  }

  #blocked(staged: Staged): Try {
    this.#again(staged.guards.keys())
    return { type: 'blocked' }
  }

  /**
   * So that other plans which need the same rows are set aside at once. A failure costs only that: each of them then waits for
   * its own lock timeout.
   */
  async #findLocked(staged: Staged): Promise<void> {
    const pids = [...staged.guards.values()].flatMap(({ question, version }) =>
      question.ask === 'process' && version > 0 ? [question.pid] : [],
    )
    const found = await this.#link.reach(() => this.#statements.locked(pids)).catch(() => [])
    this.#aside.note(found.map(processKey))
  }

  #done(settle: readonly (() => void)[]): Try {
    for (const answer of settle) answer()
    return { type: 'done', taken: settle.length }
  }

  async #whatHappened(): Promise<{ commit: number; position: number | null } | 'unknown'> {
    this.#writer = null
    try {
      return await this.#link
        .reach(() => this.#statements.settle(this.#options.store))
        .then((last) => {
          this.#writer = { store: this.#options.store, fence: last.fence }
          return last
        })
    } catch {
      return 'unknown'
    }
  }

  async #settle(): Promise<Writer> {
    const { store } = this.#options
    const { fence } = await this.#link.reach(() => this.#statements.settle(store))
    this.#writer = { store, fence }
    return this.#writer
  }

  #remember(staged: Staged): void {
    const facts = this.#facts
    facts.forgetLoaded()
    for (const [pid, { next, value }] of staged.processes) {
      facts.remember(processKey(pid), { version: next, value })
    }
    for (const rows of [staged.sessions, staged.turns, staged.groups, staged.inboxes, staged.accounts]) {
      for (const [key, { next, value }] of rows) {
        if (value === null) facts.forget([key])
        else facts.remember(key, { version: next, value })
      }
    }
    for (const [ref, value] of staged.environments) {
      facts.remember(keyOf({ ask: 'environment', ref }), { version: 1, value })
    }
    facts.forget([...staged.tombstones.keys()].map(processKey))
    this.#tables.forgetPruned([...staged.tombstones.keys()])
    facts.forget([...staged.goneSessions].map(sessionKey))
    facts.forget(staged.endedUses.map(({ ref }) => keyOf({ ask: 'environment', ref })))
  }

  #tell(staged: Staged, position: number): void {
    const after = position - staged.events.length
    const events = staged.events.map(
      (event, index): StoredEvent => ({ ...event, position: after + index + 1 }),
    )
    this.#options.onCommit({ after, position, events })
  }
}

/** Either compared by the commit, or never changing. */
const LASTING: ReadonlySet<Question['ask']> = new Set([
  ...(['process', 'session', 'turn', 'group', 'inbox', 'account', 'environment'] as const),
  ...(['announced', 'secret'] as const),
])

function ignore(): void {}
