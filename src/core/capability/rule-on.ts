import type { Ceiling } from './ceiling.ts'
import type { Need } from './need.ts'
import type { Rule, RuleLink } from './rule.ts'
import type { RuleSet } from './rule-set.ts'
import { type CheckedAt, matching, tableOf } from './rule-table.ts'
import { type RuleRef, type Ruling, strictestOf, useIdOf } from './ruling.ts'
import { countedIn, linkKey, type RulingFacts, rulingOf, setOf } from './ruling-of-set.ts'

/**
 * What the rules say about one need. Each set is asked for itself, and the strictest answer holds: a deny anywhere wins, however
 * narrow an allow is. Each ceiling is a closed set.
 */
export function ruleOn(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  need: Need,
  facts: RulingFacts,
): Ruling {
  return ruleOnAnswered(sets, ceilings, need, facts, answeredAsks(sets, need, facts))
}

/**
 * What the rules say about a further effect of an action that has begun. `passed`: the asks that were answered before it began.
 */
export function ruleOnFurther(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  need: Need,
  facts: RulingFacts,
  passed: ReadonlySet<string>,
): Ruling {
  const answered = answeredAsks(sets, need, facts)
  if (passed.size === 0) return ruleOnAnswered(sets, ceilings, need, facts, answered)
  return ruleOnAnswered(sets, ceilings, need, facts, new Set([...answered, ...passed]))
}

function ruleOnAnswered(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  need: Need,
  facts: RulingFacts,
  answered: ReadonlySet<string>,
): Ruling {
  const asked = { need, facts, answered }
  const rulings = sets.map((set) => rulingOf(set, asked))
  for (const ceiling of ceilings) rulings.push(rulingOf(setOf(ceiling), asked))
  return strictestOf(rulings)
}

/** What the rules say about an action: a deny of one need denies it, else an ask of one asks for all of it. */
export function ruleOnAll(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  needs: readonly Need[],
  facts: RulingFacts,
): Ruling {
  return strictestOf(needs.map((need) => ruleOn(sets, ceilings, need, facts)))
}

/**
 * What the rules say about an action, if that depends on its one need alone, as for most calls of tools; undefined if it may depend on
 * more. Every registration passes here.
 */
export function steadyRuling(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  needs: readonly Need[],
  checked: CheckedAt,
): Ruling | undefined {
  const [set] = sets
  const [need] = needs
  if (set === undefined || need === undefined) return undefined
  if (sets.length > 1 || needs.length > 1 || ceilings.length > 0) return undefined
  const { isSteady, comparesActions } = tableOf(set.rules)
  if (!isSteady || comparesActions) return undefined
  return rulingOf(set, { need, facts: { ...checked, delegators: NO_SETS, used: NO_USES }, answered: NONE })
}

const NO_SETS: RulingFacts['delegators'] = new Map()
const NO_USES: RulingFacts['used'] = new Map()

/** The rules that ask about an action: one yes to the whole action answers all of them, and no rule that is added later. */
export function asksOn(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  needs: readonly Need[],
  facts: RulingFacts,
): readonly RuleLink[] {
  const links = new Map<string, RuleLink>()
  for (const need of needs) {
    const answered = new Set([...answeredAsks(sets, need, facts), ...links.keys()])
    for (;;) {
      const ruling = ruleOnAnswered(sets, ceilings, need, facts, answered)
      if (ruling.type !== 'ask') break
      const link = { subject: ruling.rule.subject, rule: ruling.rule.id }
      // Every round answers one more rule, and there are finitely many.
      if (answered.has(linkKey(link))) throw new Error(`An answered rule asks: ${linkKey(link)}`)
      answered.add(linkKey(link))
      links.set(linkKey(link), link)
    }
  }
  return [...links.values()]
}

/** The subjects whose sets a ruling depends on as well: those that delegated a rule of these sets. */
export function delegatorsOf(sets: readonly RuleSet[]): readonly string[] {
  if (sets.every(({ rules }) => tableOf(rules).delegators.length === 0)) return []
  return [...new Set(sets.flatMap(({ rules }) => tableOf(rules).delegators))]
}

/** The rules with limited uses that may count for these needs: their counters are facts of the ruling. */
export function countedRulesOf(
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  needs: readonly Need[],
  facts: Omit<RulingFacts, 'used'>,
): readonly RuleRef[] {
  const isCounting = ({ rules }: { readonly rules: readonly Rule[] }) => tableOf(rules).counts
  if (!sets.some(isCounting) && !ceilings.some(isCounting)) return []
  const counting = [...sets, ...ceilings.map(setOf)].filter(isCounting)
  const found = counting.flatMap((set) =>
    needs.flatMap((need) =>
      matching(tableOf(set.rules), need, facts)
        .filter(({ rule }) => rule.effect === 'allow')
        .flatMap(({ rule }) => countedIn(set.subject, rule, facts.delegators).map(({ ref }) => ref)),
    ),
  )
  return [...new Map(found.map((ref) => [useIdOf(ref), ref])).values()]
}

/** The asks that a person's earlier answers settle for this need. */
function answeredAsks(sets: readonly RuleSet[], need: Need, facts: RulingFacts): ReadonlySet<string> {
  if (sets.every(({ rules }) => !tableOf(rules).settles)) return NONE
  const settling = sets
    .filter(({ trusted, rules }) => trusted && tableOf(rules).settles)
    .flatMap(({ rules }) => matching(tableOf(rules), need, facts))
    .filter(({ rule }) => rule.effect === 'allow' && rule.uses === undefined)
  return new Set(settling.flatMap(({ rule }) => (rule.settles ?? []).map(linkKey)))
}

const NONE: ReadonlySet<string> = new Set()
