import { isRefusal, type Refusal } from '../refusal.ts'
import { invalidRule } from './invalid-rule.ts'
import type { Need } from './need.ts'
import { parseNeed } from './parse-need.ts'
import { isWidening, type Rule, ruleText } from './rule.ts'
import { matchOf, tableOf } from './rule-table.ts'

/** The needs of a command line, for the examples of rules about programs. */
export type NeedsOfCommandLine = (line: string) => readonly Need[]

/**
 * Refuses a rule whose examples do not hold. An example of a rule about programs is a command line, any other a resource, with a
 * right before it if it is not the rule's first one. An allow matches a command line if it covers all of it, an ask or a deny if it
 * covers a part.
 */
export function refuseExamples(rule: Rule, needsOf: NeedsOfCommandLine): Refusal | undefined {
  for (const example of rule.match ?? []) {
    const found = isMatched(rule, example, needsOf)
    if (found !== true) return isRefusal(found) ? found : wrong(rule, example, 'match', 'does not match it')
  }
  for (const example of rule.nonmatch ?? []) {
    const found = isMatched(rule, example, needsOf)
    if (found !== false) return isRefusal(found) ? found : wrong(rule, example, 'nonmatch', 'matches it')
  }
  return undefined
}

function isMatched(rule: Rule, example: string, needsOf: NeedsOfCommandLine): boolean | Refusal {
  const needs = rule.resource.startsWith('shell:') ? needsOf(example) : needIn(rule, example)
  if (isRefusal(needs)) return needs
  const [compiled] = [...tableOf([inText(rule)]).byId.values()]
  if (compiled === undefined) return false
  const matches = needs.map((need) => matchOf(compiled, need, { at: 0, host: null }) !== 'no')
  return isWidening(rule) ? matches.length > 0 && matches.every(Boolean) : matches.some(Boolean)
}

/** The part of a rule that a text can show: not its time, host and sizes. */
function inText(rule: Rule): Rule {
  const { expiresAt: _expiry, hosts: _hosts, constraints, ...rest } = rule
  const { hours: _hours, maxBytes: _bytes, methods: _methods, ...shown } = constraints ?? {}
  return { ...rest, constraints: shown }
}

function needIn(rule: Rule, example: string): readonly Need[] | Refusal {
  const need = parseNeed(example, rule.rights[0])
  if (need !== null) return [need]
  return invalidRule(
    `The example ${JSON.stringify(example)} of the rule "${ruleText(rule)}" names no resource.`,
    'Write a resource without wildcards, as in "write fs:src/main.ts".',
    { example },
  )
}

function wrong(rule: Rule, example: string, field: 'match' | 'nonmatch', found: string): Refusal {
  return invalidRule(
    `The rule "${ruleText(rule)}" has the example ${JSON.stringify(example)} under ${field}, and ${found}.`,
    'Correct the rule or the example.',
    { example, field },
  )
}
