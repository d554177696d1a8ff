import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import { objectRows } from '../../core/object/entry.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import { referenceChanges } from '../../core/process/prune.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { belowChanges } from '../../core/session/sessions-above.ts'
import { subjectsOf } from '../../core/tool/written-tool.ts'
import type { Change, Commit, Page, PruneCandidate, Question, Questions } from '../contract.ts'
import { becameLive } from '../due.ts'
import type { Transaction } from '../group-commit.ts'
import { UnreadableRows } from '../unreadable.ts'
import { answerFrom } from './answers.ts'
import { AuditChain } from './audit-chain.ts'
import { Checkpoints } from './checkpoints.ts'
import { Counters } from './counters.ts'
import { ForeignCommits } from './foreign-commits.ts'
import { ProcessRows } from './process-rows.ts'
import { RuleSetCache } from './rule-set-cache.ts'
import { allStatements, type Statements } from './statements/all.ts'
import { isBusy, isPlanFault, toStoreError } from './store-errors.ts'

/** The tables of one SQLite file: answers questions, and applies changes inside a transaction. */
export class Tables implements Transaction {
  readonly foreignCommits: ForeignCommits
  readonly #db: DatabaseSync
  readonly #file: string
  readonly #now: () => number
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #statements: Statements
  readonly #unreadable = new UnreadableRows()
  readonly #rows: ProcessRows
  readonly #counters: Counters
  readonly #ruleSets: RuleSetCache
  readonly #audit: AuditChain
  readonly #checkpoints: Checkpoints
  /** Events that the open transaction has appended. */
  #events: StoredEvent[] = []
  /** How many processes the open transaction has pruned. */
  #pruned = 0
  /** The numbers of processes that the open transaction may prune. */
  readonly #ids = new Map<Pid, number>()

  constructor(db: DatabaseSync, file: string, now: () => number) {
    this.#db = db
    this.#file = file
    this.#now = now
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#checkpoints = new Checkpoints(db)
    this.#statements = allStatements(db, this.#unreadable)
    this.#counters = new Counters(this.#statements.meta)
    this.#ruleSets = new RuleSetCache(this.#statements.authority)
    this.#audit = new AuditChain(this.#statements.audit)
    this.#rows = new ProcessRows({
      statements: this.#statements.process,
      isInTransaction: () => db.isTransaction,
    })
    this.foreignCommits = new ForeignCommits(this.#statements.meta.foreignVersion, () => {
      this.#rows.forget()
      this.#counters.forget()
      this.#ruleSets.forgetEpoch()
      this.#audit.forget()
    })
  }

  /**
   * The position, if another connection has committed since the last call; else null. `look` checks now; `noticed` reports only
   * what transactions of this connection have found.
   */
  noticeForeignCommits(how: 'look' | 'noticed'): number | null {
    if (how === 'look') this.foreignCommits.look()
    return this.foreignCommits.report(() => this.position())
  }

  position(): number {
    return this.#statements.meta.read().position
  }

  begin(): void {
    this.#begin.run()
    this.foreignCommits.look()
    this.#counters.begin()
    this.#rows.begin()
    this.#ruleSets.begin()
    this.#audit.begin()
    this.#events = []
    this.#pruned = 0
    this.#ids.clear()
  }

  commit(): Commit | null {
    this.#counters.write()
    this.#ruleSets.write()
    this.#audit.write()
    this.#checkpoints.commit(this.#pruned, () => this.#commit.run())
    this.#rows.commit()
    this.#ruleSets.commit()
    this.#audit.commit()
    const positions = this.#counters.commit()
    return positions === null ? null : { ...positions, events: this.#events }
  }

  /** Between transactions; returns whether there was a checkpoint, which takes about as long as a transaction. */
  checkpointIfDue(): boolean {
    return this.#checkpoints.runIfDue()
  }

  rollback(): void {
    // A commit that failed may have happened all the same: rows are read again, and followers have to read the feed.
    this.#rows.rollBack()
    this.#counters.forget()
    this.#ruleSets.rollBack()
    this.#audit.forget()
    this.foreignCommits.assume()
    if (this.#db.isTransaction) this.#db.exec('rollback')
  }

  isBusy = isBusy
  isPlanFault = isPlanFault

  toStoreError(error: unknown, committing: boolean): unknown {
    return toStoreError(error, this.#file, committing)
  }

  answer(question: Question): unknown {
    switch (question.ask) {
      case 'process':
        return this.#rows.read(question.pid)?.row ?? null
      case 'ruleSet':
        return this.#ruleSet(question.subject)
      case 'prunable':
        return this.#candidates(question)
      case 'audit':
      case 'auditLinks':
      case 'auditTail':
        if (this.#db.isTransaction) this.#audit.write()
        return answerFrom(this.#statements, question, this.#now)
      default:
        return answerFrom(this.#statements, question, this.#now)
    }
  }

  /** Yields between queries of some milliseconds. */
  list(question: Questions['processes'][0]): Generator<void, Page<ProcessRow>> {
    return this.#statements.list.list(question)
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
        this.#statements.prune.dropTombstones(change.pids)
        return
      case 'notice':
        this.#statements.notice.insert(this.#rows.idOf(change.notice.pid), change.notice)
        return
      case 'notices_done':
        this.#statements.notice.done(change.scope, change.positions, change.how)
        return
      case 'notice_observed':
        this.#statements.notice.observed(change.scope, change.position, change.turns)
        return
      case 'drop_notices':
        this.#statements.notice.drop(change.scope)
        return
      case 'inbox':
        this.#statements.notice.putInbox(change.inbox)
        return
      case 'account':
        this.#statements.account.put(change.account)
        return
      case 'account_gone':
        this.#statements.account.drop(change.id)
        return
      case 'group':
        this.#statements.scope.putGroup(change.group)
        return
      case 'group_gone':
        this.#statements.scope.dropGroup(change.id)
        return
      case 'session_gone':
        this.#statements.scope.dropSession(change.id)
        this.#ruleSets.drop([`session:${change.id}`])
        return
      case 'session':
        this.#statements.scope.putSession(change.session)
        return
      case 'turn':
        this.#statements.scope.putTurn(change.turn)
        return
      case 'grant':
        this.#statements.scope.putGrant(change.grant)
        return
      case 'revoke':
        this.#statements.scope.revoke(change.session, change.pid)
        return
      case 'environment':
        this.#statements.scope.putEnvironment(change.ref, change.environment)
        return
      case 'environment_used':
        this.#statements.scope.useEnvironment(change.by, change.ref)
        return
      case 'environment_unused':
        this.#statements.scope.endUse(change.by, change.ref)
        return
      case 'holder':
        this.#statements.holder.put(change.holder, this.#now(), change.ttlMs)
        return
      case 'holder_gone':
        this.#statements.holder.remove(change.id)
        return
      case 'schedule':
        this.#statements.schedule.put(change.schedule)
        return
      case 'schedule_gone':
        this.#statements.schedule.remove(change.id)
        return
      case 'liens':
        this.#statements.lien.put(change.liens)
        return
      case 'revocation':
        this.#statements.object.revoke(change.revocation)
        return
      case 'trigger':
        this.#statements.trigger.put(change.trigger)
        return
      case 'trigger_gone':
        this.#statements.trigger.remove(change.id)
        return
      case 'delivery':
        this.#statements.trigger.putDelivery(change.delivery)
        return
      case 'deliveries_gone':
        this.#statements.trigger.prune(change.trigger, change.through)
        return
      case 'rule_set':
        this.#ruleSets.put(change.ruleSet)
        return
      case 'rule_set_gone':
        this.#ruleSets.drop([change.subject])
        return
      case 'rule_use':
        this.#statements.authority.putRuleUse(change.use)
        return
      case 'rule_use_gone':
        this.#statements.authority.dropRuleUse(change.id)
        return
      case 'approval':
        this.#statements.approval.put(change.approval)
        return
      case 'audit':
        this.#audit.append(change.entry)
        return
      case 'audit_pruned':
        this.#audit.prune(change.start)
        return
      case 'audit_window':
        this.#statements.audit.putWindow(change.window)
        return
      case 'audit_window_gone':
        this.#statements.audit.dropWindow(change.key)
        return
    }
  }

  #applyProcess({ was, row, events, blobs }: Extract<Change, { type: 'process' }>): void {
    const { pid } = row.record
    const id = this.#rows.write(was, row)
    const references = referenceChanges(was?.record ?? null, row.record)
    if (references !== null) this.#statements.prune.changeReferences(pid, references)
    const below = belowChanges(was?.record ?? null, row.record)
    if (below !== null) this.#statements.process.changeBelow(id, below)
    if (blobs !== undefined) this.#statements.blobReference.change(id, blobs)
    this.#statements.object.insert(id, objectRows(row.record, events))
    if (events.length === 0) return
    const counters = this.#counters.change()
    counters.live += becameLive(was, row)
    for (const event of events) {
      counters.position += 1
      this.#statements.event.insert(counters.position, id, event)
      this.#events.push({ ...event, position: counters.position })
    }
  }

  #applyPrune({ tombstones }: Extract<Change, { type: 'prune' }>): void {
    const last = this.#statements.prune.prune(
      tombstones,
      tombstones.map(({ pid }) => this.#ids.get(pid) ?? this.#rows.idOf(pid)),
    )
    const counters = this.#counters.change()
    counters.prunedThrough = Math.max(counters.prunedThrough, last)
    this.#pruned += tombstones.length
    for (const { pid } of tombstones) this.#rows.pruned(pid)
    this.#ruleSets.drop(tombstones.flatMap(({ pid }) => subjectsOf(pid)))
    this.#statements.object.dropRevocations(tombstones.map(({ pid }) => pid))
    this.#unreadable.forget(tombstones.map(({ pid }) => pid))
  }

  #candidates(question: Questions['prunable'][0]): PruneCandidate[] {
    const isInside = this.#db.isTransaction
    const justWritten = new Set(isInside ? this.#events.map(({ pid }) => pid) : [])
    const found = this.#statements.prune.candidates(question, justWritten)
    if (isInside) for (const { pid, id } of found) this.#ids.set(pid, id)
    return found
  }

  #ruleSet(subject: string): RuleSet | null {
    // Outside a transaction the file may be newer than the cache.
    return this.#db.isTransaction ? this.#ruleSets.get(subject) : this.#statements.authority.ruleSet(subject)
  }
}
