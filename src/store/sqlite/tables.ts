import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import { referenceChanges } from '../../core/process/prune.ts'
import { hasEnded } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type { Change, Commit, Page, PruneCandidate, Question, Questions } from '../contract.ts'
import { becameLive } from '../due.ts'
import type { Transaction } from '../group-commit.ts'
import { UnreadableRows } from '../unreadable.ts'
import { Checkpoints } from './checkpoints.ts'
import { accountStatements } from './statements/account.ts'
import { eventStatements } from './statements/event.ts'
import { holderStatements } from './statements/holder.ts'
import { listStatements } from './statements/list.ts'
import { type Meta, metaStatements } from './statements/meta.ts'
import { noticeStatements } from './statements/notice.ts'
import { type NumberedRow, processStatements } from './statements/process.ts'
import { pruneStatements } from './statements/prune.ts'
import { scopeStatements } from './statements/scope.ts'
import { isBusy, isConstraint, trouble } from './trouble.ts'

/**
 * Rows kept in memory so that a busy process is not parsed for every event. Of those that have ended none is kept: they are
 * hardly asked for again, and would fill it.
 */
const CACHE_ROWS = 2_000

/** The tables of one SQLite file: answers questions, and applies changes inside a transaction. */
export class Tables implements Transaction {
  readonly #db: DatabaseSync
  readonly #file: string
  readonly #now: () => number
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #process: ReturnType<typeof processStatements>
  readonly #event: ReturnType<typeof eventStatements>
  readonly #scope: ReturnType<typeof scopeStatements>
  readonly #holder: ReturnType<typeof holderStatements>
  readonly #notice: ReturnType<typeof noticeStatements>
  readonly #account: ReturnType<typeof accountStatements>
  readonly #meta: ReturnType<typeof metaStatements>
  readonly #prune: ReturnType<typeof pruneStatements>
  readonly #list: ReturnType<typeof listStatements>
  readonly #unreadable = new UnreadableRows()
  /** Committed rows; valid as long as no other connection has committed. */
  #cache = new Map<Pid, NumberedRow>()
  /** Rows as this transaction has them. */
  #touched = new Map<Pid, NumberedRow | null>()
  #foreignVersion: number
  /** Seen, and not yet told: a transaction that comes upon them clears the cache, but tells nobody. */
  #foreignCommits = false
  #looks = 0
  /** The counters as the last commit left them; valid as long as no other connection has committed. */
  #known: Meta | undefined
  /** The counters as this transaction found them, and as they become. */
  #before: Meta | undefined
  #counters: Meta = { position: 0, prunedThrough: 0, live: 0 }
  #events: StoredEvent[] = []
  #pruned = 0
  /** The numbers of processes that this transaction may prune. */
  readonly #places = new Map<Pid, number>()
  readonly #checkpoints: Checkpoints

  constructor(db: DatabaseSync, file: string, now: () => number) {
    this.#db = db
    this.#file = file
    this.#now = now
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#checkpoints = new Checkpoints(db)
    this.#process = processStatements(db, this.#unreadable)
    this.#event = eventStatements(db, this.#unreadable)
    this.#scope = scopeStatements(db)
    this.#holder = holderStatements(db)
    this.#notice = noticeStatements(db)
    this.#account = accountStatements(db)
    this.#meta = metaStatements(db)
    this.#prune = pruneStatements(db)
    this.#list = listStatements(db, this.#unreadable)
    this.#foreignVersion = this.#meta.foreignVersion()
  }

  /**
   * The position, if another connection has committed since this was last asked; else null. `noticed`: by transactions of this
   * one, without a look of its own.
   */
  noticeForeignCommits(how: 'look' | 'noticed'): number | null {
    if (how === 'look') this.#lookForForeignCommits()
    if (!this.#foreignCommits) return null
    const position = this.position()
    this.#foreignCommits = false
    return position
  }

  /** How often it was looked for commits of others. */
  get looks(): number {
    return this.#looks
  }

  position(): number {
    return this.#meta.read().position
  }

  begin(): void {
    this.#begin.run()
    this.#lookForForeignCommits()
    this.#before = undefined
    this.#events = []
    this.#pruned = 0
    this.#places.clear()
    this.#touched.clear()
  }

  commit(): Commit | null {
    if (this.#before !== undefined) this.#meta.write(this.#counters)
    this.#checkpoints.commit(this.#pruned, () => this.#commit.run())
    this.#known = this.#before === undefined ? this.#known : this.#counters
    for (const [pid, row] of this.#touched) this.#remember(pid, row)
    this.#touched.clear()
    if (this.#before === undefined) return null
    return { after: this.#before.position, position: this.#counters.position, events: this.#events }
  }

  /** Between transactions; answers whether there was a checkpoint, which takes about as long as one. */
  checkpointIfDue(): boolean {
    return this.#checkpoints.runIfDue()
  }

  rollback(): void {
    this.#touched.clear()
    // A commit that failed may have happened all the same: rows are read anew, and whoever follows has to look.
    this.#forget()
    this.#foreignCommits = true
    if (this.#db.isTransaction) this.#db.exec('rollback')
  }

  isBusy = isBusy
  isOwn = isConstraint

  trouble(error: unknown, committing: boolean): unknown {
    return trouble(error, this.#file, committing)
  }

  answer(question: Question): unknown {
    switch (question.ask) {
      case 'process':
        return this.#read(question.pid)?.row ?? null
      case 'tombstone':
        return this.#prune.tombstone(question.pid)
      case 'session':
        return this.#scope.session(question.id)
      case 'turn':
        return this.#scope.turn(question.session, question.id)
      case 'group':
        return this.#scope.group(question.id)
      case 'environment':
        return this.#scope.environment(question.ref)
      case 'environments':
        return this.#scope.environments(question)
      case 'holder':
        return this.#holder.read(question.id, this.#now())
      case 'announced':
        return this.#holder.isThere(question.id)
      case 'event':
        return this.#event.byKey(question)
      case 'eventAt':
        return this.#event.bySeq(question)
      case 'pids':
        return this.#process.pids(question)
      case 'processes':
        return toEnd(this.list(question))
      case 'claimable':
        return this.#process.claimable(question)
      case 'nextDue':
        return this.#process.nextDue(question)
      case 'held':
        return this.#process.held(question)
      case 'holders':
        return this.#holder.all(this.#now())
      case 'unannounced':
        return this.#holder.unannounced()
      case 'carrying':
        return this.#process.carrying(question)
      case 'carryingScopes':
        return this.#scope.carrying(question.limit)
      case 'waking':
        return this.#process.waking(question)
      case 'grants':
        return this.#scope.grants(question)
      case 'sessions':
        return this.#scope.sessions(question)
      case 'events':
        return this.#event.after(question)
      case 'tail':
        return this.#event.tail(question)
      case 'changes':
        return this.#event.changes(question, this.#head())
      case 'notices':
        return this.#notice.read(question)
      case 'inbox':
        return this.#notice.inbox(question.scope)
      case 'overflowing':
        return this.#notice.overflowing(question.limit)
      case 'account':
        return this.#account.read(question.id)
      case 'accounts':
        return this.#account.list(question)
      case 'activity':
        return this.#process.activity(question, this.#meta.read().live)
      case 'prunable':
        return this.#candidates(question)
      case 'pruneThrough':
        return this.#prune.through(question)
      case 'tombstones':
        return this.#prune.oldTombstones(question)
      case 'storage':
        return this.#prune.storage()
      case 'unreadable':
        return this.#process.unreadable()
      case 'secret':
        return this.#meta.secret()
    }
  }

  /** Yields between queries of some milliseconds. */
  list(question: Questions['processes'][0]): Generator<void, Page<ProcessRow>> {
    return this.#list.list(question)
  }

  apply(change: Change): void {
    switch (change.type) {
      case 'process':
        this.#applyProcess(change)
        return
      case 'prune':
        this.#applyPrune(change)
        return
      case 'tombstones_gone':
        this.#prune.dropTombstones(change.pids)
        return
      case 'notice':
        this.#notice.insert(this.#idOf(change.notice.pid), change.notice)
        return
      case 'notices_done':
        this.#notice.done(change.scope, change.places, change.how)
        return
      case 'notice_observed':
        this.#notice.observed(change.scope, change.place, change.turns)
        return
      case 'drop_notices':
        this.#notice.drop(change.scope)
        return
      case 'inbox':
        this.#notice.putInbox(change.inbox)
        return
      case 'account':
        this.#account.put(change.account)
        return
      case 'account_gone':
        this.#account.drop(change.id)
        return
      case 'group':
        this.#scope.putGroup(change.group)
        return
      case 'group_gone':
        this.#scope.dropGroup(change.id)
        return
      case 'session_gone':
        this.#scope.dropSession(change.id)
        return
      case 'session':
        this.#scope.putSession(change.session)
        return
      case 'turn':
        this.#scope.putTurn(change.turn)
        return
      case 'grant':
        this.#scope.putGrant(change.grant)
        return
      case 'revoke':
        this.#scope.revoke(change.session, change.pid)
        return
      case 'environment':
        this.#scope.putEnvironment(change.ref, change.environment)
        return
      case 'environment_used':
        this.#scope.useEnvironment(change.by, change.ref)
        return
      case 'environment_unused':
        this.#scope.endUse(change.by, change.ref)
        return
      case 'holder':
        this.#holder.put(change.holder, this.#now(), change.ttlMs)
        return
      case 'holder_gone':
        this.#holder.remove(change.id)
        return
    }
  }

  #lookForForeignCommits(): void {
    this.#looks += 1
    const version = this.#meta.foreignVersion()
    if (version === this.#foreignVersion) return
    this.#foreignVersion = version
    this.#foreignCommits = true
    this.#forget()
  }

  #forget(): void {
    this.#cache.clear()
    this.#known = undefined
  }

  #applyProcess({ was, row, events }: Extract<Change, { type: 'process' }>): void {
    const { pid } = row.record
    let id: number
    if (was === null) {
      id = this.#process.insert(row)
    } else {
      id = this.#idOf(pid)
      this.#process.update(id, was, row)
    }
    this.#touched.set(pid, { id, row })
    const references = referenceChanges(was?.record ?? null, row.record)
    if (references !== null) this.#prune.changeReferences(pid, references)
    if (events.length === 0) return
    const counters = this.#count()
    counters.live += becameLive(was, row)
    for (const event of events) {
      counters.position += 1
      this.#event.insert(counters.position, id, event)
      this.#events.push({ ...event, position: counters.position })
    }
  }

  #applyPrune({ tombstones }: Extract<Change, { type: 'prune' }>): void {
    const last = this.#prune.prune(
      tombstones,
      tombstones.map(({ pid }) => this.#places.get(pid) ?? this.#idOf(pid)),
    )
    const counters = this.#count()
    counters.prunedThrough = Math.max(counters.prunedThrough, last)
    this.#pruned += tombstones.length
    for (const { pid } of tombstones) this.#touched.set(pid, null)
    this.#unreadable.forget(tombstones.map(({ pid }) => pid))
  }

  #candidates(question: Questions['prunable'][0]): PruneCandidate[] {
    const isInside = this.#db.isTransaction
    const justWritten = new Set(isInside ? this.#events.map(({ pid }) => pid) : [])
    const found = this.#prune.candidates(question, justWritten)
    if (isInside) for (const { pid, place } of found) this.#places.set(pid, place)
    return found
  }

  #head() {
    const { position, prunedThrough } = this.#meta.read()
    return { position, prunedThrough }
  }

  #count(): Meta {
    if (this.#before === undefined) {
      this.#before = this.#known ?? this.#meta.read()
      this.#counters = { ...this.#before }
    }
    return this.#counters
  }

  #idOf(pid: Pid): number {
    const found = this.#read(pid)
    if (found === null) throw new Error(`A change of ${pid}, which is not there`)
    return found.id
  }

  #read(pid: Pid): NumberedRow | null {
    const known = this.#touched.get(pid) ?? this.#cache.get(pid)
    if (known !== undefined) return known
    if (this.#touched.get(pid) === null) return null
    const found = this.#process.read(pid)
    // Outside a transaction the file may be ahead of the cache's version: only what is read inside is kept.
    if (found !== null && this.#db.isTransaction) this.#touched.set(pid, found)
    return found
  }

  #remember(pid: Pid, row: NumberedRow | null): void {
    this.#cache.delete(pid)
    if (row === null || hasEnded(row.row.record)) return
    this.#cache.set(pid, row)
    if (this.#cache.size > CACHE_ROWS) {
      const oldest = this.#cache.keys().next().value
      if (oldest !== undefined) this.#cache.delete(oldest)
    }
  }
}

function toEnd<Answer>(steps: Generator<void, Answer>): Answer {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
