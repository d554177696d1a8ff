import type { Change } from '../contract.ts'
import type { Guard } from './staged-row.ts'

/** The rows that a change replaces or removes, and that the commit has to compare. */
export function changedRows(change: Change): readonly Guard['question'][] {
  switch (change.type) {
    case 'process':
      return [{ ask: 'process', pid: change.row.record.pid }]
    case 'group':
      return [{ ask: 'group', id: change.group.id }]
    case 'group_gone':
      return [{ ask: 'group', id: change.id }]
    case 'session':
      return [{ ask: 'session', id: change.session.id }]
    case 'session_gone':
      return [{ ask: 'session', id: change.id }]
    case 'inbox':
      return [{ ask: 'inbox', scope: change.inbox.scope }]
    case 'drop_notices':
      return [{ ask: 'inbox', scope: change.scope }]
    case 'account':
      return [{ ask: 'account', id: change.account.id }]
    case 'account_gone':
      return [{ ask: 'account', id: change.id }]
    case 'turn':
      return [{ ask: 'turn', session: change.turn.session, id: change.turn.id }]
    case 'schedule':
      return [{ ask: 'schedule', id: change.schedule.id }]
    case 'schedule_gone':
      return [{ ask: 'schedule', id: change.id }]
    case 'liens':
      return [{ ask: 'liens', host: change.liens.host }]
    case 'revocation':
      return [{ ask: 'revocation', handle: change.revocation.handle }]
    case 'trigger':
      return [{ ask: 'trigger', id: change.trigger.id }]
    case 'trigger_gone':
      return [{ ask: 'trigger', id: change.id }]
    case 'delivery':
      return [{ ask: 'delivery', pid: change.delivery.pid }]
    case 'approval':
      return [{ ask: 'approval', id: change.approval.id }]
    case 'rule_use':
      return [{ ask: 'ruleUse', id: change.use.id }]
    case 'rule_use_gone':
      return [{ ask: 'ruleUse', id: change.id }]
    case 'audit_window':
      return [{ ask: 'auditWindow', key: change.window.key }]
    case 'audit_window_gone':
      return [{ ask: 'auditWindow', key: change.key }]
    default:
      return []
  }
}

/** The subjects whose rule sets a change writes: the commit has to compare their epoch. */
export function changedSubjects(change: Change): readonly string[] {
  if (change.type === 'rule_set') return [change.ruleSet.subject]
  return change.type === 'rule_set_gone' ? [change.subject] : []
}

/** Whether a change removes something with everything that depends on it. */
export function isFinal({ type }: Change): boolean {
  return (
    type === 'prune' || type === 'session_gone' || type === 'environment_unused' || type === 'rule_set_gone'
  )
}
