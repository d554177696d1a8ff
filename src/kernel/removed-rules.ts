import type { AuditEntry } from '../core/audit/entry.ts'
import type { Rule } from '../core/capability/rule.ts'
import { type RuleSet, withoutAnswersTo } from '../core/capability/rule-set.ts'
import { refOf, useIdOf } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import type { Actor } from '../core/process/record.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'

const PAGE = 500

/**
 * The other subjects that have answers to requests of these rules. It is found out before the plan, because it reads all rule sets.
 * An answer that is given in between stays, and answers no other rule unless a person gives the id of the removed one again.
 */
export async function subjectsAnswering(
  { store }: Pick<Edges, 'store'>,
  subject: string,
  removed: readonly Rule[],
): Promise<readonly string[]> {
  if (removed.every(({ effect }) => effect === 'allow')) return []
  const found: string[] = []
  for (let after: string | null = null; ; ) {
    const sets: readonly RuleSet[] = await store.ask({ ask: 'ruleSets', after, limit: PAGE })
    for (const set of sets)
      if (set.subject !== subject && withoutAnswersTo(set, subject, removed) !== set) found.push(set.subject)
    after = sets.at(-1)?.subject ?? null
    if (sets.length < PAGE) return found
  }
}

/** Rules that a person removes from a set. */
export interface Removal {
  readonly actor: Actor
  readonly at: number
  readonly was: RuleSet | null
  /** The set without them; null if it is removed as a whole. */
  readonly rest: RuleSet | null
  readonly removed: readonly Rule[]
  /** The other subjects that may have answers to requests of them. */
  readonly answering: readonly string[]
}

/** A rule, and the subject that it binds. */
export interface OwnedRule {
  readonly subject: string
  readonly rule: Rule
}

export interface Removed {
  readonly changes: readonly Change[]
  /** The answers to requests of the removed rules: they are removed, too. */
  readonly answers: readonly OwnedRule[]
}

/** What goes with removed rules: the counters of their uses, and the answers to their requests in all sets. */
export function* removalChanges(subject: string, removal: Removal): PlanPart<Removed> {
  const { actor, at, was, rest, removed, answering } = removal
  const changes: Change[] = []
  const answers: OwnedRule[] = []
  for (const { id, uses } of removed) {
    const use = uses === undefined ? null : yield* know({ ask: 'ruleUse', id: useIdOf({ subject, id }) })
    if (use !== null) changes.push({ type: 'rule_use_gone', id: use.id })
  }
  const dropAnswers = (from: RuleSet, before: RuleSet | null) => {
    const ruleSet = withoutAnswersTo(from, subject, removed)
    if (ruleSet !== before) changes.push({ type: 'rule_set', was: before, ruleSet })
    const left = new Set(ruleSet.rules.map(({ id }) => id))
    for (const rule of from.rules)
      if (!left.has(rule.id)) {
        answers.push({ subject: from.subject, rule })
        changes.push({ type: 'audit', entry: answerGone(actor, at, from.subject, rule) })
      }
  }
  if (rest === null) changes.push({ type: 'rule_set_gone', subject })
  else dropAnswers(rest, was)
  const questions = answering.map((other) => ({ ask: 'ruleSet', subject: other }) as const)
  const sets = questions.length === 0 ? [] : ((yield questions) as readonly (RuleSet | null)[])
  for (const other of sets) if (other !== null) dropAnswers(other, other)
  return { changes, answers }
}

function answerGone(actor: Actor, at: number, subject: string, rule: Rule): AuditEntry {
  return {
    at,
    actor,
    action: 'removeRule',
    target: subject,
    decision: 'revoked',
    rule: refOf(subject, rule),
    reason: 'The rule that it answered was removed.',
    inputs: {},
    trace: null,
  }
}
