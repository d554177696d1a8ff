import { asJson } from '../json/json.ts'
import { isRefusal, type Refusal, refusal } from '../refusal.ts'
import type { Constraints } from './constraint.ts'
import { isNarrower, widerConstraint } from './narrower.ts'
import { parseConstraints } from './parse-constraints.ts'
import { parseResource, type ResourcePattern } from './resource.ts'
import { type Rule, ruleText } from './rule.ts'
import type { RuleSet } from './rule-set.ts'
import { isWholeShell } from './rule-table.ts'

export type DelegationDecision =
  /** The rule for the set of the receiver. */
  { readonly type: 'delegate'; readonly rule: Rule } | { readonly type: 'refuse'; readonly refusal: Refusal }

/**
 * Whether a subject may pass on a rule: only an allow that it holds itself and that is delegable, and only narrower. Limits of time
 * and number that the rule leaves out are those of the held one.
 */
export function decideDelegation(held: RuleSet, asked: Rule, at: number): DelegationDecision {
  if (asked.effect !== 'allow')
    return refuse(held, asked, `only an allow can be delegated, and this is ${asked.effect}`)
  const found = held.rules.map((rule) => ({ rule, wider: whyNot(asked, rule, held, at) }))
  const source = found.find(({ wider }) => wider === undefined)
  if (source !== undefined) return { type: 'delegate', rule: passedOn(asked, source.rule, held.subject) }
  const nearest = found.find(({ rule }) => rule.effect === 'allow' && isResourceNarrower(asked, rule))
  return refuse(held, asked, nearest?.wider ?? 'it holds no allow of this resource')
}

/** Why a held rule does not permit the asked one; undefined if it does. */
function whyNot(asked: Rule, rule: Rule, held: RuleSet, at: number): string | undefined {
  if (rule.effect !== 'allow' || !held.trusted) return 'it holds no allow of this resource'
  if (!isResourceNarrower(asked, rule)) return `${rule.resource} does not cover ${asked.resource}`
  if (rule.settles !== undefined) return 'what it holds is an answer to one of its own requests'
  if (rule.delegable === undefined) return 'what it holds is not delegable'
  if (rule.expiresAt !== undefined && rule.expiresAt <= at) return 'what it holds has expired'
  const right = asked.rights.find((one) => !rule.rights.includes(one))
  if (right !== undefined) return `it does not hold the right ${right}`
  const constraint = widerConstraintOf(asked, rule)
  if (constraint !== undefined)
    return `the constraint ${constraint} would be wider than that of what it holds`
  if (rule.hosts !== undefined && !asked.hosts?.every((host) => rule.hosts?.includes(host)))
    return 'hosts would be wider than those of what it holds'
  if (rule.expiresAt !== undefined && (asked.expiresAt ?? 0) > rule.expiresAt)
    return 'it would expire later than what it holds'
  if (rule.uses !== undefined && (asked.uses ?? 0) > rule.uses)
    return 'it would have more uses than what it holds'
  if ((asked.delegable?.depth ?? 0) >= rule.delegable.depth)
    return `it may be passed on ${rule.delegable.depth - 1} times more, and delegable would allow more`
  if (asked.revocable === false && rule.revocable !== false) return 'what it holds can be revoked'
  return undefined
}

function passedOn(asked: Rule, rule: Rule, subject: string): Rule {
  const expiresAt = asked.expiresAt ?? rule.expiresAt
  const uses = asked.uses ?? rule.uses
  return {
    ...asked,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(uses === undefined ? {} : { uses }),
    delegatedFrom: [...(rule.delegatedFrom ?? []), { subject, rule: rule.id }],
  }
}

function isResourceNarrower(asked: Rule, rule: Rule): boolean {
  const pattern = readPattern(asked)
  const than = readPattern(rule)
  if (pattern === undefined || than === undefined) return false
  if (pattern.kind === 'shell' && isWholeShell(rule)) return true
  // Of all allows, only those of `shell:sh` cover what cannot be analysed.
  return (asked.resource !== 'shell:sh' || rule.resource === 'shell:sh') && isNarrower(pattern, than)
}

function widerConstraintOf(asked: Rule, rule: Rule): string | undefined {
  const constraints = readConstraints(asked)
  const than = readConstraints(rule)
  if (constraints === undefined || than === undefined) return 'that this version does not know'
  return widerConstraint(constraints, than)
}

function readPattern({ resource }: Rule): ResourcePattern | undefined {
  const pattern = parseResource(resource)
  return isRefusal(pattern) ? undefined : pattern
}

function readConstraints(rule: Rule): Constraints | undefined {
  const kind = readPattern(rule)?.kind
  if (kind === undefined) return undefined
  const constraints = parseConstraints(asJson(rule.constraints ?? {}), kind)
  return isRefusal(constraints) ? undefined : constraints
}

function refuse(held: RuleSet, asked: Rule, why: string): DelegationDecision {
  return {
    type: 'refuse',
    refusal: refusal(
      'denied',
      `${held.subject} may not delegate "${ruleText(asked)}": ${why}.`,
      'Delegate less, or ask a person for more.',
    ),
  }
}
