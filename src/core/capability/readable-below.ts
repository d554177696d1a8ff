import type { Ceiling } from './ceiling.ts'
import type { Need } from './need.ts'
import { asksOn, countedRulesOf, ruleOn, ruleOnFurther } from './rule-on.ts'
import type { RuleSet } from './rule-set.ts'
import { tableOf } from './rule-table.ts'
import { useIdOf } from './ruling.ts'
import { linkKey, type RulingFacts } from './ruling-of-set.ts'

/** The rules that bind the reader of a folder. */
export interface ReaderRules {
  readonly sets: readonly RuleSet[]
  readonly ceilings: readonly Ceiling[]
  readonly facts: RulingFacts
}

/** Whether a file or folder may be read, by its path as needs have it. */
export type MayRead = (path: string) => boolean

/**
 * Which files may be read by an action that may read this folder. A file that a rule denies may not, nor one that a rule asks about,
 * unless the same rule asked about the folder: then the answer was yes, or the action would not run.
 */
export function readableBelow({ sets, ceilings, facts }: ReaderRules, folder: Need): MayRead {
  const { resource } = folder
  const about = sets.filter(isAboutFiles)
  if (resource.kind !== 'fs' || (about.length === 0 && ceilings.length === 0)) return () => true
  const counted = withOwnUse({ sets: about, ceilings, facts }, folder)
  const passed = new Set(asksOn(about, ceilings, [folder], counted).map(linkKey))
  return (path) => {
    const need: Need = { ...folder, resource: { ...resource, path } }
    return ruleOnFurther(about, ceilings, need, counted, passed).type === 'allow'
  }
}

/** A set without them says nothing about a file. */
function isAboutFiles({ rules, closed }: RuleSet): boolean {
  const { byKind, closes, delegators } = tableOf(rules)
  return closed || closes || delegators.length > 0 || byKind.has('fs')
}

/** If only counted rules allow the folder, the action has taken one use of them, which is for all files below. */
function withOwnUse({ sets, ceilings, facts }: ReaderRules, folder: Need): RulingFacts {
  if (ruleOn(sets, ceilings, folder, facts).type !== 'deny') return facts
  const own = countedRulesOf(sets, ceilings, [folder], facts).map(useIdOf)
  if (own.length === 0) return facts
  const used = new Map(facts.used)
  for (const id of own) used.set(id, (used.get(id) ?? 0) - 1)
  return { ...facts, used }
}
