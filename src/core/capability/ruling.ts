import { type Rule, ruleText } from './rule.ts'

/** What the rules say about a need or an action. `rule` null: no rule says it, but that there is none. */
export type Ruling =
  | { readonly type: 'allow'; readonly rule: RuleRef | null; readonly uses: readonly RuleRef[] }
  | {
      readonly type: 'ask'
      readonly rule: RuleRef
      /** The agent to ask; null: a person. */
      readonly reviewer: string | null
      readonly justification: string | null
      /** How long the request waits for an answer; null: forever. */
      readonly answerWithinMs: number | null
      /** The allows with limited uses that count once the answer is yes. */
      readonly uses: readonly RuleRef[]
    }
  | { readonly type: 'deny'; readonly rule: RuleRef | null; readonly reason: string }

/** A rule of a set, by subject and id, with its text for people. */
export interface RuleRef {
  readonly subject: string
  readonly id: string
  readonly text: string
}

export const ALLOWED: Ruling = { type: 'allow', rule: null, uses: [] }

const refs = new WeakMap<Rule, RuleRef>()

/** The reference to a rule. It is made once for a rule of a set: every check that the rule decides needs it. */
export function refOf(subject: string, rule: Rule): RuleRef {
  const known = refs.get(rule)
  if (known?.subject === subject) return known
  const ref = { subject, id: rule.id, text: ruleText(rule) }
  refs.set(rule, ref)
  return ref
}

/** The id of the counter of a rule whose uses are limited. */
export function useIdOf({ subject, id }: Pick<RuleRef, 'subject' | 'id'>): string {
  return `${subject} ${id}`
}

/**
 * The strictest of several rulings: deny, ask a person, ask a reviewer, allow. Of equal ones the first, but an allow without a
 * rule gives way to one with. The uses of all are kept, each once, and of several times to answer the shortest.
 */
export function strictestOf(rulings: readonly Ruling[]): Ruling {
  const [only] = rulings
  if (only !== undefined && rulings.length === 1) return only
  let strictest = ALLOWED
  for (const ruling of rulings) if (isStricter(ruling, strictest)) strictest = ruling
  if (strictest.type === 'deny') return strictest
  const uses = rulings.flatMap((ruling) => (ruling.type === 'deny' ? [] : ruling.uses))
  const kept = { uses: [...new Map(uses.map((use) => [useIdOf(use), use])).values()] }
  if (strictest.type === 'allow') return { ...strictest, ...kept }
  const times = rulings.flatMap((ruling) =>
    ruling.type === 'ask' && ruling.answerWithinMs !== null ? [ruling.answerWithinMs] : [],
  )
  return { ...strictest, ...kept, answerWithinMs: times.length === 0 ? null : Math.min(...times) }
}

function isStricter(ruling: Ruling, than: Ruling): boolean {
  return strictness(ruling) > strictness(than)
}

function strictness(ruling: Ruling): number {
  switch (ruling.type) {
    case 'allow':
      return ruling.rule === null ? 0 : 1
    case 'ask':
      return ruling.reviewer === null ? 3 : 2
    case 'deny':
      return 4
  }
}
