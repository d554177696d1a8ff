import { type Refusal, refusal } from '../refusal.ts'
import { ruleText } from './rule.ts'
import { type RuleSet, withRules } from './rule-set.ts'

export type RevocationDecision =
  | { readonly type: 'revoke'; readonly ruleSet: RuleSet }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** A set without one of its rules. What was delegated from it no longer counts from the next check on. */
export function decideRevocation(set: RuleSet, id: string): RevocationDecision {
  const rule = set.rules.find((one) => one.id === id)
  if (rule === undefined)
    return no(refusal('not_found', `${set.subject} has no rule ${id}.`, 'List the rules of the subject.'))
  if (rule.revocable === false)
    return no(
      refusal(
        'denied',
        `The rule ${id} of ${set.subject} was given for good: ${ruleText(rule)}`,
        'Add a deny: it wins over every allow.',
      ),
    )
  const rules = set.rules.filter((one) => one !== rule)
  return { type: 'revoke', ruleSet: withRules(set, rules) }
}

function no(found: Refusal): RevocationDecision {
  return { type: 'refuse', refusal: found }
}
