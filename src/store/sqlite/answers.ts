import type { Question } from '../contract.ts'
import type { Statements } from './statements/all.ts'

/** Answers the questions that one statement answers, without the state of a transaction. */
export function answerFrom(
  statements: Statements,
  question: Exclude<Question, { ask: 'process' | 'ruleSet' | 'prunable' }>,
  now: () => number,
): unknown {
  switch (question.ask) {
    case 'tombstone':
      return statements.prune.tombstone(question.pid)
    case 'session':
      return statements.scope.session(question.id)
    case 'turn':
      return statements.scope.turn(question.session, question.id)
    case 'group':
      return statements.scope.group(question.id)
    case 'environment':
      return statements.scope.environment(question.ref)
    case 'environments':
      return statements.scope.environments(question)
    case 'holder':
      return statements.holder.read(question.id, now())
    case 'announced':
      return statements.holder.isThere(question.id)
    case 'event':
      return statements.event.byKey(question)
    case 'eventAt':
      return statements.event.bySeq(question)
    case 'pids':
      return statements.process.pids(question)
    case 'processes':
      return statements.list.listAtOnce(question)
    case 'claimable':
      return statements.process.claimable(question)
    case 'nextDue':
      return statements.process.nextDue(question)
    case 'held':
      return statements.process.held(question)
    case 'holders':
      return statements.holder.all(now())
    case 'unannounced':
      return statements.holder.unannounced()
    case 'carrying':
      return statements.process.carrying(question)
    case 'carryingScopes':
      return statements.scope.carrying(question.limit)
    case 'waking':
      return statements.process.waking(question)
    case 'grants':
      return statements.scope.grants(question)
    case 'sessions':
      return statements.scope.sessions(question)
    case 'events':
      return statements.event.after(question)
    case 'tail':
      return statements.event.tail(question)
    case 'changes':
      return statements.event.changes(question, statements.meta.read())
    case 'notices':
      return statements.notice.read(question)
    case 'openNotices':
      return statements.notice.countOpen(question)
    case 'inbox':
      return statements.notice.inbox(question.scope)
    case 'overflowing':
      return statements.notice.overflowing(question.limit)
    case 'account':
      return statements.account.read(question.id)
    case 'accounts':
      return statements.account.list(question)
    case 'schedule':
      return statements.schedule.read(question.id)
    case 'liens':
      return statements.lien.read(question.host)
    case 'objectEvent':
      return statements.object.newest(question)
    case 'objectEvents':
      return statements.object.names(question)
    case 'objectVersions':
      return statements.object.versions(question)
    case 'revocation':
      return statements.object.revocation(question.handle)
    case 'schedules':
      return statements.schedule.list(question)
    case 'trigger':
      return statements.trigger.read(question.id)
    case 'triggers':
      return statements.trigger.list(question)
    case 'delivery':
      return statements.trigger.readDelivery(question.pid)
    case 'deliveries':
      return statements.trigger.listDeliveries(question)
    case 'ruleSets':
      return statements.authority.ruleSets(question)
    case 'ruleUse':
      return statements.authority.ruleUse(question.id)
    case 'approval':
      return statements.approval.read(question.id)
    case 'approvals':
      return statements.approval.list(question)
    case 'approvalQueue':
      return statements.approval.queue(question)
    case 'approvalsDue':
      return statements.approval.due(question)
    case 'nextApprovalDue':
      return statements.approval.nextDue(question)
    case 'audit':
      return statements.audit.page(question)
    case 'auditLinks':
      return statements.audit.links(question)
    case 'auditTail':
      return statements.audit.tail()
    case 'auditWindow':
      return statements.audit.window(question.key)
    case 'auditWindows':
      return statements.audit.windows(question)
    case 'activity':
      return statements.process.activity(question, statements.meta.read().live)
    case 'pruneThrough':
      return statements.prune.through(question)
    case 'tombstones':
      return statements.prune.oldTombstones(question)
    case 'storage':
      return statements.prune.storage()
    case 'unreadable':
      return statements.process.unreadable()
    case 'secret':
      return statements.meta.secret()
  }
}
