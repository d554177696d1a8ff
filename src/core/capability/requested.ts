import type { Ceiling } from './ceiling.ts'
import { isNamed } from './is-named.ts'
import type { Need } from './need.ts'
import { ruleOnAll } from './rule-on.ts'
import type { RuleSet } from './rule-set.ts'
import type { Ruling } from './ruling.ts'
import type { RulingFacts } from './ruling-of-set.ts'

/**
 * What the rules say about an action whose later effects an image or a skill names in advance. Where nothing allows such an effect a
 * person is asked, instead of a denial: the answer lets the action begin and allows no effect. What the action does itself is denied
 * where nothing allows it, and a rule that denies an effect denies all of it.
 */
export function rulingWithRequests(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  needs: readonly Need[],
  facts: RulingFacts,
): Ruling {
  const ruling = ruleOnAll(sets, ceilings, needs, facts)
  if (ruling.type === 'allow' && needs.some((need) => isConfirmed(need) && !isNamed(sets, need, facts)))
    return {
      type: 'ask',
      rule: { subject: 'requests', id: 'confirmed', text: 'ask  for what no rule allows by name' },
      reviewer: null,
      justification: null,
      answerWithinMs: null,
      uses: ruling.uses,
    }
  if (ruling.type !== 'deny' || ruling.rule !== null) return ruling
  const requested = needs.filter(isRequested)
  if (requested.length === 0) return ruling
  const denied = requested
    .map((need) => ruleOnAll(sets, ceilings, [need], facts))
    .find((one) => one.type === 'deny' && one.rule !== null)
  if (denied !== undefined) return denied
  const own = ruleOnAll(
    sets,
    ceilings,
    needs.filter((need) => !isRequested(need)),
    facts,
  )
  if (own.type !== 'allow') return own
  return {
    type: 'ask',
    rule: { subject: 'requests', id: 'requested', text: 'ask  for what nothing allows' },
    reviewer: null,
    justification:
      'It names effects in advance that nothing allows. A yes lets it begin, and allows none of them.',
    answerWithinMs: null,
    uses: own.uses,
  }
}

export function isRequested({ attributes }: Need): boolean {
  return attributes.requested === true
}

export function isConfirmed({ attributes }: Need): boolean {
  return attributes.confirmed === true
}
