import type { AuditDecision } from '../core/audit/entry.ts'
import type { Rule } from '../core/capability/rule.ts'
import { emptySet, type RuleSet, withRules } from '../core/capability/rule-set.ts'
import { refOf } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'

/** Enough for any policy, and a bound for the row that every check reads. */
export const MAX_RULES = 10_000

/** Adds a rule to the rule set of a subject. `ruleOf` gets the id of the new rule. */
export async function addRule(
  edges: Edges,
  actor: Actor,
  subject: string,
  ruleOf: (id: string) => Rule | Refusal,
): Promise<Rule | Refusal> {
  const at = edges.clock.now()
  const answer = await edges.store.write<Rule | Refusal>(function* () {
    const was = yield* know({ ask: 'ruleSet', subject })
    const set = was ?? emptySet(subject)
    const rule = ruleOf(nextId(set))
    if (!('effect' in rule)) return { answer: rule, changes: [] }
    if (set.rules.some(({ id }) => id === rule.id)) return { answer: taken(subject, rule.id), changes: [] }
    if (set.rules.length >= MAX_RULES) return { answer: full(subject), changes: [] }
    const ruleSet = withRules(set, [...set.rules, rule])
    return {
      answer: rule,
      changes: [{ type: 'rule_set', was, ruleSet }, auditOf(actor, subject, rule, 'granted', at)],
    }
  })
  edges.onAudited?.()
  return answer
}

/** Removes a rule. The set stays closed if it was. */
export async function removeRule(
  edges: Edges,
  actor: Actor,
  subject: string,
  id: string,
): Promise<Rule | Refusal> {
  const at = edges.clock.now()
  const answer = await edges.store.write<Rule | Refusal>(function* () {
    const was = yield* know({ ask: 'ruleSet', subject })
    const rule = was?.rules.find((one) => one.id === id)
    if (was === null || rule === undefined) return { answer: unknownRule(subject, id), changes: [] }
    if (rule.revocable === false) return { answer: irrevocable(subject, id), changes: [] }
    const ruleSet = withRules(
      was,
      was.rules.filter((one) => one !== rule),
    )
    return {
      answer: rule,
      changes: [{ type: 'rule_set', was, ruleSet }, auditOf(actor, subject, rule, 'revoked', at)],
    }
  })
  edges.onAudited?.()
  return answer
}

function nextId({ rules }: RuleSet): string {
  const numbers = rules.map(({ id }) => Number(/^r(\d+)$/.exec(id)?.[1] ?? 0))
  return `r${Math.max(0, ...numbers) + 1}`
}

function auditOf(actor: Actor, subject: string, rule: Rule, decision: AuditDecision, at: number): Change {
  const entry = {
    at,
    actor,
    action: decision === 'granted' ? 'addRule' : 'removeRule',
    target: subject,
    decision,
    rule: refOf(subject, rule),
    reason: rule.justification ?? null,
    inputs: {},
    trace: null,
  }
  return { type: 'audit', entry }
}

function unknownRule(subject: string, id: string): Refusal {
  return refusal(
    'not_found',
    `The rules of ${subject} have no rule ${id}.`,
    'List them to see which there are.',
  )
}

function irrevocable(subject: string, id: string): Refusal {
  return refusal('conflict', `The rule ${id} of ${subject} cannot be revoked.`, 'It counts until it expires.')
}

function taken(subject: string, id: string): Refusal {
  return refusal(
    'conflict',
    `The rules of ${subject} have a rule ${id} already.`,
    'Remove it first, or leave the id out.',
  )
}

export function full(subject: string): Refusal {
  return refusal(
    'limit_exceeded',
    `The rule set of ${subject} has ${MAX_RULES} rules, and no more are stored.`,
    'Remove some.',
    { limit: 'rules', left: 0, asked: 1 },
  )
}
