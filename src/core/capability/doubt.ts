import type { Ceiling } from './ceiling.ts'
import type { Need } from './need.ts'
import type { Rule } from './rule.ts'
import { ruleOn } from './rule-on.ts'
import type { RuleSet } from './rule-set.ts'
import { matching, tableOf } from './rule-table.ts'
import type { RuleRef } from './ruling.ts'
import { type RulingFacts, setOf } from './ruling-of-set.ts'

/** What a ruling on an action was made of. */
interface RuledAction {
  readonly sets: readonly RuleSet[]
  readonly ceilings: readonly Ceiling[]
  readonly needs: readonly Need[]
  readonly facts: RulingFacts
}

/**
 * Why it is not certain that a rule which asks is about the action: the action may do what the rule asks about, and it cannot be
 * excluded. Null if the rule certainly matches.
 */
export function doubtOf(rule: Pick<RuleRef, 'subject' | 'id'>, ruled: RuledAction): string | null {
  const { sets, ceilings, needs, facts } = ruled
  const asking = needs.filter((need) => {
    const ruling = ruleOn(sets, ceilings, need, facts)
    return ruling.type === 'ask' && ruling.rule.subject === rule.subject && ruling.rule.id === rule.id
  })
  if (asking.length === 0) return null
  const table = tableOf(rulesOf(rule.subject, ruled))
  const isCertain = asking.some((need) =>
    matching(table, need, facts).some((matched) => matched.rule.id === rule.id && matched.match === 'yes'),
  )
  if (isCertain) return null
  const reason = asking.map(unknownIn).find((found) => found !== null)
  // Surfaces put it into a sentence.
  return reason?.replace(/\.$/, '') ?? 'not all that the rule compares is known'
}

/** Most of all rules are those of a set. A delegate is bound by the rules of its delegator as well. */
function rulesOf(subject: string, { sets, ceilings, facts }: RuledAction): readonly Rule[] {
  const found = [...sets, ...ceilings.map(setOf)].find((set) => set.subject === subject)
  return (found ?? facts.delegators.get(subject))?.rules ?? []
}

function unknownIn({ resource, attributes: { opaque, unknownOption } }: Need): string | null {
  if (opaque !== undefined) return opaque
  if (resource.kind === 'fs' && resource.path === null) return 'it is not known which file it is'
  if (resource.kind !== 'shell' || unknownOption !== true) return null
  return `${resource.program.name} has an option before its subcommand that is not known`
}
