import type { Approval } from '../core/approval/approval.ts'
import { rulesOfGrant, withAnswers, withSettling } from '../core/approval/remembered-answer.ts'
import { emptySet, withRules } from '../core/capability/rule-set.ts'
import { refOf } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import type { Refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'
import { full, MAX_RULES } from './policies.ts'
import type { WorkingRows } from './working-rows.ts'

/** Stores the rules of an answer that counts for more than one time, in the transaction of the answer. Refuses if the set is full. */
export function* rememberAnswer(
  rows: WorkingRows,
  { id: approval, request, answer }: Approval,
  at: number,
): PlanPart<Refusal | undefined> {
  if (request.type !== 'permission' || answer?.type !== 'approved' || answer.rule !== null) return undefined
  const stored = rulesOfGrant(request, answer.grant, answer.storedIn)
  if (stored === null) return undefined
  const { subject, rules } = stored
  const was = yield* know({ ask: 'ruleSet', subject })
  const set = was ?? emptySet(subject)
  const ruleSet = withRules(set, withAnswers(set, rules))
  if (ruleSet.rules.length > MAX_RULES) return full(subject)
  const granted = rules.map((rule): Change => {
    const ref = refOf(subject, rule)
    const inputs = { approval, grant: answer.grant }
    const decided = { action: 'addRule', target: subject, decision: 'granted', rule: ref } as const
    return {
      type: 'audit',
      entry: { at, actor: answer.by, ...decided, reason: rule.justification ?? null, inputs, trace: null },
    }
  })
  const isAlways = answer.grant === 'always'
  const marked = isAlways && subject === 'home' ? withSettling(ruleSet, approval) : ruleSet
  rows.add([{ type: 'rule_set', was, ruleSet: marked }, ...granted])
  if (isAlways && subject !== 'home') {
    const home = yield* know({ ask: 'ruleSet', subject: 'home' })
    rows.add([{ type: 'rule_set', was: home, ruleSet: withSettling(home, approval) }])
  }
  return undefined
}
