import type { Approval } from '../../core/approval/approval.ts'
import type { AuditEntry } from '../../core/audit/entry.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import type { Change } from '../../core/change.ts'
import { newEvent } from '../../core/process/decision.ts'
import { fold } from '../../core/process/fold.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor } from '../../core/process/record.ts'
import { know, type Plan, type Store } from '../../store/contract.ts'
import { pidOf } from './bench.ts'

/** Small rows of authority. A store does not look into rules, requests and inputs. */
export function ruleSet(subject: string, rules: readonly string[] = []): RuleSet {
  return { subject, rules: rules.map(rule), closed: false, source: null, trusted: true }
}

export function rule(id: string): Rule {
  return { id, effect: 'ask', rights: ['execute'], resource: 'shell:git' }
}

export function approval(id: string, more: Partial<Approval> = {}): Approval {
  return {
    id,
    pid: pidOf('a'),
    state: 'pending',
    askedAt: 1,
    person: null,
    expiresAt: null,
    pushAt: null,
    request: question('Push?'),
    answer: null,
    ...more,
  }
}

export function question(text: string): Approval['request'] {
  return {
    type: 'question',
    text,
    choices: null,
    subject: 'session:s1',
    session: 's1',
    ancestors: [],
    reviewer: null,
    priority: 0,
    reason: null,
  }
}

export function reply(by: Actor): Approval['answer'] {
  return { type: 'replied', by, at: 2, value: 'yes' }
}

export function auditEntry(more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: 1,
    actor: 'session:s1',
    action: 'spawn',
    target: 'shell:git',
    decision: 'denied',
    rule: { subject: 'home', id: 'r1', text: 'deny  execute shell:git' },
    reason: null,
    inputs: { run: 'git push' },
    trace: null,
    ...more,
  }
}

/** Writes these changes, without a question. */
export function put(store: Store, ...changes: readonly Change[]): Promise<void> {
  return store.write(function* () {
    yield []
    return { answer: undefined, changes }
  })
}

/** Replaces a rule set by what `change` makes of it; null removes it. */
export function changeRules(
  store: Store,
  subject: string,
  change: (was: RuleSet | null) => RuleSet | null,
  more: (next: RuleSet | null) => readonly Change[] = () => [],
): Promise<void> {
  return store.write(function* () {
    const was = yield* know({ ask: 'ruleSet', subject })
    const next = change(was)
    const changed: Change =
      next === null ? { type: 'rule_set_gone', subject } : { type: 'rule_set', was, ruleSet: next }
    return { answer: undefined, changes: [changed, ...more(next)] }
  })
}

/** The rule set, as a plan that changes nothing reads it. */
export function rulesInPlan(store: Store, subject: string): Promise<RuleSet | null> {
  return store.write(function* () {
    return { answer: yield* know({ ask: 'ruleSet', subject }), changes: [] }
  })
}

/** One event of a process, decided on a rule set, with the entry that says so. */
export function actUnderRules(pid: Pid, subject: string, at: number): Plan<void> {
  return function* () {
    const rules = yield* know({ ask: 'ruleSet', subject })
    const was = yield* know({ ask: 'process', pid })
    const events = [newEvent({ type: 'cwd_changed', payload: { cwd: '/' } })]
    const { changes } = fold({ pid, was, group: null, events, lease: undefined, actor: 'host', at })
    const entry = auditEntry({
      decision: 'allowed',
      inputs: { saw: rules === null ? 0 : rules.rules.length },
    })
    return { answer: undefined, changes: [...changes, { type: 'audit', entry }] }
  }
}
