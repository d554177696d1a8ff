import { StoreError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Question } from '../contract.ts'
import type { UnreadableRow, UnreadableRows } from '../unreadable.ts'
import { type Fact, keyOf } from './facts.ts'
import type { Link } from './link.ts'
import { loadFacts } from './load-facts.ts'
import { allStatements } from './statements/all.ts'
import type { NumberedRow } from './statements/process.ts'

/** The tables of one schema: answers questions. Changes are written by `CommitWriter`. */
export class Tables {
  readonly #statements: ReturnType<typeof allStatements>
  readonly #unreadable: UnreadableRows

  /** `onRow` is called with every process row in an answer. */
  constructor(
    link: Link,
    at: string,
    {
      unreadable,
      onRow = () => undefined,
    }: { unreadable: UnreadableRows; onRow?: (found: NumberedRow) => void },
  ) {
    this.#unreadable = unreadable
    this.#statements = allStatements(link, at, onRow, unreadable)
  }

  position(): Promise<number> {
    return this.#statements.meta.position()
  }

  epoch(): Promise<number> {
    return this.#statements.authority.epoch()
  }

  stay(store: string): Promise<number> {
    return this.#statements.meta.stay(store)
  }

  forgetPruned(pids: readonly Pid[]): void {
    this.#unreadable.forget(pids)
  }

  async answer(question: Question): Promise<unknown> {
    switch (question.ask) {
      case 'process':
      case 'tombstone':
      case 'session':
      case 'turn':
      case 'group':
      case 'inbox':
      case 'account':
      case 'schedule':
      case 'liens':
      case 'revocation':
      case 'trigger':
      case 'delivery':
      case 'ruleSet':
      case 'ruleUse':
      case 'approval':
      case 'auditWindow':
      case 'environment':
      case 'holder':
      case 'announced':
      case 'event': {
        const facts = await this.load([question])
        const value = facts.get(keyOf(question))?.value ?? null
        if (value instanceof StoreError) throw value
        return value
      }
      case 'environments':
        return this.#statements.scope.environments(question)
      case 'eventAt':
        return this.#statements.event.bySeq(question)
      case 'objectEvent':
        return this.#statements.object.newest(question)
      case 'objectEvents':
        return this.#statements.object.names(question)
      case 'objectVersions':
        return this.#statements.object.versions(question)
      case 'pids':
        return this.#statements.process.pids(question)
      case 'processes':
        return this.#statements.list.list(question)
      case 'claimable':
        return this.#statements.process.claimable(question)
      case 'nextDue':
        return this.#statements.process.nextDue(question)
      case 'held':
        return this.#statements.process.held(question)
      case 'holders':
        return this.#statements.holder.all()
      case 'unannounced':
        return this.#statements.holder.unannounced()
      case 'carrying':
        return this.#statements.process.carrying(question)
      case 'carryingScopes':
        return this.#statements.scope.carrying(question.limit)
      case 'waking':
        return this.#statements.process.waking(question)
      case 'grants':
        return this.#statements.scope.grants(question)
      case 'sessions':
        return this.#statements.scope.sessions(question)
      case 'events':
        return this.#statements.event.after(question)
      case 'tail':
        return this.#statements.event.tail(question)
      case 'changes':
        return this.#statements.event.changes(question)
      case 'notices':
        return this.#statements.notice.read(question)
      case 'openNotices':
        return this.#statements.notice.countOpen(question)
      case 'overflowing':
        return this.#statements.notice.overflowing(question.limit)
      case 'accounts':
        return this.#statements.account.list(question)
      case 'schedules':
        return this.#statements.schedule.list(question)
      case 'triggers':
        return this.#statements.trigger.list(question)
      case 'deliveries':
        return this.#statements.trigger.listDeliveries(question)
      case 'ruleSets':
        return this.#statements.authority.ruleSets(question)
      case 'approvals':
        return this.#statements.approval.list(question)
      case 'approvalQueue':
        return this.#statements.approval.queue(question)
      case 'approvalsDue':
        return this.#statements.approval.due(question)
      case 'nextApprovalDue':
        return this.#statements.approval.nextDue(question)
      case 'audit':
        return this.#statements.audit.page(question)
      case 'auditLinks':
        return this.#statements.audit.links(question)
      case 'auditTail':
        return this.#statements.audit.tail()
      case 'auditWindows':
        return this.#statements.audit.windows(question)
      case 'activity':
        return this.#statements.process.activity(question)
      case 'prunable':
        return this.#statements.prune.candidates(question)
      case 'pruneThrough':
        return this.#statements.prune.through(question)
      case 'tombstones':
        return this.#statements.prune.oldTombstones(question)
      case 'storage':
        return this.#statements.prune.storage()
      case 'unreadable':
        return this.#stillUnreadable()
      case 'secret':
        return this.#statements.meta.secret()
    }
  }

  /** The facts that answer these questions, by key. */
  load(questions: readonly Question[]): Promise<Map<string, Fact>> {
    return loadFacts(this.#statements, this.#unreadable, questions, (question) => this.answer(question))
  }

  /** Reads the unreadable rows again: another program may have repaired or pruned them. */
  async #stillUnreadable(): Promise<readonly UnreadableRow[]> {
    if (this.#unreadable.size > 0)
      await this.#statements.process.read(this.#unreadable.all().map(({ pid }) => pid))
    return this.#unreadable.all()
  }
}
