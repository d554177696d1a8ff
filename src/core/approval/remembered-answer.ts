import type { Rule, RuleLink } from '../capability/rule.ts'
import { emptySet, type RuleSet } from '../capability/rule-set.ts'
import type { ApprovalGrant, PermissionRequest } from './approval.ts'

/** The rules that a grant stores, and the set that gets them; null for a grant that stores none. */
export function rulesOfGrant(
  request: PermissionRequest & { readonly session: string | null; readonly subject: string },
  grant: ApprovalGrant,
  storedIn = 'home',
): { readonly subject: string; readonly rules: readonly Rule[] } | null {
  switch (grant) {
    case 'once':
      return null
    case 'process':
      return { subject: request.subject, rules: request.grantRules.process }
    case 'session':
      return { subject: `session:${request.session}`, rules: request.grantRules.session }
    case 'always':
      return { subject: storedIn, rules: request.alwaysRule === null ? [] : [request.alwaysRule] }
  }
}

/** The rules of a set with those of an answer. A rule that is there already answers what either of them did. */
export function withAnswers(set: RuleSet, rules: readonly Rule[]): readonly Rule[] {
  const added = rules.map((rule) => {
    const known = set.rules.find(({ id }) => id === rule.id)
    return known === undefined ? rule : { ...rule, settles: linksOf(known.settles ?? [], rule.settles ?? []) }
  })
  return [...set.rules.filter(({ id }) => !rules.some((rule) => rule.id === id)), ...added]
}

/** The set of the home, marked: an answer for every time may cover other pending requests. */
export function withSettling(home: RuleSet | null, approval: string): RuleSet {
  return { ...(home ?? emptySet('home')), settling: approval }
}

/** The set of the home without its mark; null if nothing is left of it. */
export function withoutSettling({ settling: _, ...set }: RuleSet): RuleSet | null {
  const isEmpty = set.rules.length === 0 && !set.closed && set.lastId === undefined
  return isEmpty ? null : set
}

/** The subjects whose sets may have a rule that answers a request for every time. */
export function answeringSubjects({ boundBy = [] }: PermissionRequest): readonly string[] {
  return ['home', ...boundBy.filter((subject) => subject.startsWith('workspace:'))]
}

/** The rule of the set that answers a pending request: a person approved this action for every time, and no other rule asks. */
export function coveringRule(
  { repeatHash, settles }: PermissionRequest,
  set: RuleSet,
  at: number,
): Rule | undefined {
  if (!set.trusted) return undefined
  return set.rules.find(
    (rule) =>
      isAnswer(rule) &&
      rule.constraints?.action === repeatHash &&
      (rule.expiresAt === undefined || rule.expiresAt > at) &&
      settles.every((link) => rule.settles?.some((known) => isSame(known, link)) === true),
  )
}

/** Whether a rule is the answer of a person to a request. */
function isAnswer({ effect, settles, uses }: Rule): boolean {
  return effect === 'allow' && settles !== undefined && uses === undefined
}

function linksOf(some: readonly RuleLink[], more: readonly RuleLink[]): readonly RuleLink[] {
  return [...some, ...more.filter((link) => !some.some((known) => isSame(known, link)))]
}

function isSame(one: RuleLink, other: RuleLink): boolean {
  return one.subject === other.subject && one.rule === other.rule
}
