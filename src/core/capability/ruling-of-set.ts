import type { Ceiling } from './ceiling.ts'
import { covers } from './covers.ts'
import { subjectText } from './folder-subjects.ts'
import { type Need, NO_ATTRIBUTES, needText } from './need.ts'
import type { Rule, RuleLink } from './rule.ts'
import type { RuleSet } from './rule-set.ts'
import {
  type CheckedAt,
  type CompiledRule,
  isInForce,
  type MatchedRule,
  matching,
  matchOf,
  type RuleTable,
  tableOf,
} from './rule-table.ts'
import { ALLOWED, type RuleRef, type Ruling, refOf, strictestOf, useIdOf } from './ruling.ts'

/** What a ruling depends on besides the rules that apply. */
export interface RulingFacts extends CheckedAt {
  /** The sets of the subjects that `delegatorsOf` names; one that is missing has no rules. */
  readonly delegators: ReadonlyMap<string, RuleSet>
  /** How often the rules that `countedRulesOf` names were used, by `useIdOf`. One that is missing counts as used up. */
  readonly used: ReadonlyMap<string, number>
}

/** A set, or a ceiling seen as one. */
export interface AskedSet extends Pick<RuleSet, 'subject' | 'rules' | 'trusted' | 'closed'> {}

export interface Asked {
  readonly need: Need
  readonly facts: RulingFacts
  readonly answered: ReadonlySet<string>
}

/** Of each set, what it said before. A set that changes is another object. */
const remembered = new WeakMap<AskedSet, Map<string, Ruling>>()
/** More than an agent has different tools. */
const MAX_REMEMBERED = 1_000

/** What one set says about a need. An agent needs the same again and again, and most rules say the same each time. */
export function rulingOf(set: AskedSet, asked: Asked): Ruling {
  const table = tableOf(set.rules)
  const key = table.isSteady && asked.answered.size === 0 ? plainText(asked.need) : undefined
  if (key === undefined) return decided(set, table, asked)
  const before = remembered.get(set) ?? new Map<string, Ruling>()
  const known = before.get(key)
  if (known !== undefined) return known
  const ruling = decided(set, table, asked)
  if (before.size >= MAX_REMEMBERED) before.clear()
  before.set(key, ruling)
  remembered.set(set, before)
  return ruling
}

const ceilingSets = new WeakMap<Ceiling, AskedSet>()

/** The same object each time, so that what it said is remembered. */
export function setOf(ceiling: Ceiling): AskedSet {
  const known = ceilingSets.get(ceiling)
  if (known !== undefined) return known
  const { givenTo, rules } = ceiling
  const set = { subject: `ceiling:${givenTo}`, rules, trusted: true, closed: true }
  ceilingSets.set(ceiling, set)
  return set
}

/** What tells a need from others; undefined if its resource is not all that does. */
function plainText({ right, resource, attributes }: Need): string | undefined {
  if (attributes !== NO_ATTRIBUTES) return undefined
  switch (resource.kind) {
    case 'fs':
    case 'shell':
    case 'net':
    case 'process':
      return undefined
    default:
      return `${right} ${resource.kind}:${resource.path}`
  }
}

function decided(set: AskedSet, table: RuleTable, asked: Asked): Ruling {
  const matched = matching(table, asked.need, asked.facts)
  const { need } = asked
  const allowed = bestAllow(set, matched, asked) ?? transparent(need) ?? implied(table, need)
  const requestable = matched.filter(({ rule }) => isRequestable(rule))
  const requests = asksBy(set, requestable, asked)
  const isAnswered = requestable.length > 0 && requests.length === 0
  const limits = [
    ...limitsIn(set, matched, allowed !== undefined || isAnswered, asked),
    // A delegate is bound by the rules of its delegator, also by those that were added later.
    ...table.delegators.flatMap((subject) => limitsOfDelegator(subject, asked)),
  ]
  if (limits.some(({ type }) => type === 'deny')) return strictestOf(limits)
  if (allowed !== undefined) return strictestOf([allowed, ...limits])
  if (requestable.length > 0) return strictestOf([...requests, ...limits])
  return isClosed(set) ? closedTo(set.subject, asked.need, limits) : strictestOf(limits)
}

/** The denies and asks of a set that hold beside every allow. */
function limitsIn(
  set: AskedSet,
  matched: readonly MatchedRule[],
  isPermitted: boolean,
  asked: Asked,
): readonly Ruling[] {
  const denies = matched.filter(({ rule }) => rule.effect !== 'allow' && rule.effect !== 'ask')
  const asks = matched.filter(({ rule }) => rule.effect === 'ask' && !isRequestable(rule))
  // A person can see which file it is.
  const isAnyFile = asked.need.resource.kind === 'fs' && asked.need.resource.path === null
  return [
    ...denies.flatMap((matchedDeny) =>
      isAnyFile && matchedDeny.match === 'unknown'
        ? asksBy(set, [matchedDeny], asked)
        : [denyBy(set.subject, matchedDeny.rule)],
    ),
    ...asksBy(set, asks, asked),
    ...(isPermitted || asked.need.attributes.opaque === undefined ? [] : asksAboutOpaque(set, asked)),
  ]
}

function limitsOfDelegator(subject: string, asked: Asked): readonly Ruling[] {
  const set = asked.facts.delegators.get(subject)
  if (set === undefined) return []
  const matched = matching(tableOf(set.rules), asked.need, asked.facts)
  return limitsIn(set, matched, bestAllow(set, matched, asked) !== undefined, asked)
}

/** What cannot be analysed may do what a rule about programs asks about or denies, so a person decides. */
function asksAboutOpaque(set: AskedSet, { facts, answered }: Asked): readonly Ruling[] {
  const { subject, rules } = set
  const inForce = tableOf(rules).shellLimits.filter(
    (compiled) => isInForce(compiled, facts) && !answered.has(linkKey({ subject, rule: compiled.rule.id })),
  )
  const strictest = inForce.find(({ rule }) => rule.reviewer === undefined) ?? inForce[0]
  return strictest === undefined ? [] : [askBy(set, strictest.rule)]
}

function asksBy(set: AskedSet, asks: readonly MatchedRule[], { answered }: Asked): readonly Ruling[] {
  return asks
    .filter(({ rule }) => !answered.has(linkKey({ subject: set.subject, rule: rule.id })))
    .map(({ rule }) => askBy(set, rule))
}

/** One without limited uses, if there is one: no use is spent that can be saved. */
function bestAllow(
  { subject, trusted }: AskedSet,
  matched: readonly MatchedRule[],
  { need, facts }: Asked,
): Ruling | undefined {
  if (!trusted) return undefined
  const allows = matched
    .filter(({ rule }) => rule.effect === 'allow' && isStillHeld(rule, need, facts))
    .map(({ rule }) => ({ rule, counted: countedIn(subject, rule, facts.delegators) }))
    .filter(({ counted }) => counted.every(({ ref, uses }) => (facts.used.get(useIdOf(ref)) ?? uses) < uses))
  const best = allows.find(({ counted }) => counted.length === 0) ?? allows[0]
  if (best === undefined) return undefined
  return { type: 'allow', rule: refOf(subject, best.rule), uses: best.counted.map(({ ref }) => ref) }
}

/** A program that only starts others needs no allow of its own. */
function transparent({ attributes }: Need): Ruling | undefined {
  return attributes.transparent === true ? ALLOWED : undefined
}

/** Without a model an agent does nothing, and a question begins nothing: an allow of something else takes neither away. */
function implied(table: RuleTable, { right, resource, attributes }: Need): Ruling | undefined {
  if (attributes.implied !== true) return undefined
  const isLimited = [...table.byId.values()].some(
    ({ rule, pattern }) =>
      rule.effect === 'allow' &&
      rule.rights.includes(right) &&
      pattern?.kind === resource.kind &&
      (resource.kind !== 'tool' || covers(pattern, resource) !== 'no'),
  )
  return isLimited ? undefined : ALLOWED
}

/** Whether every rule that it was delegated from is still there and still allows the need. */
function isStillHeld(
  { delegatedFrom = [] }: Rule,
  need: Need,
  { delegators, at, host }: RulingFacts,
): boolean {
  return delegatedFrom.every((link) => {
    const held = heldRule(link, delegators)
    return held?.rule.effect === 'allow' && matchOf(held, need, { at, host }) === 'yes'
  })
}

/** The rule and those that it was delegated from, as far as their uses are limited: a use of it is one of theirs, too. */
export function countedIn(
  subject: string,
  rule: Rule,
  delegators: ReadonlyMap<string, RuleSet>,
): readonly { readonly ref: RuleRef; readonly uses: number }[] {
  const held = (rule.delegatedFrom ?? []).map((link) => ({
    subject: link.subject,
    rule: heldRule(link, delegators)?.rule,
  }))
  return [{ subject, rule }, ...held].flatMap((one) =>
    one.rule?.uses === undefined ? [] : [{ ref: refOf(one.subject, one.rule), uses: one.rule.uses }],
  )
}

function heldRule(
  { subject, rule }: RuleLink,
  delegators: ReadonlyMap<string, RuleSet>,
): CompiledRule | undefined {
  const set = delegators.get(subject)
  return set?.trusted === true ? tableOf(set.rules).byId.get(rule) : undefined
}

function isRequestable({ effect, requestable }: Rule): boolean {
  return effect === 'ask' && requestable === true
}

function isClosed({ trusted, closed, rules }: AskedSet): boolean {
  return trusted && (closed || tableOf(rules).closes)
}

export function linkKey({ subject, rule }: RuleLink): string {
  return `${subject} ${rule}`
}

function denyBy(subject: string, rule: Rule): Ruling {
  const ref = refOf(subject, rule)
  return {
    type: 'deny',
    rule: ref,
    reason: rule.justification ?? `A rule of ${subjectText(subject)} denies it: ${ref.text}`,
  }
}

function askBy({ subject, trusted }: AskedSet, rule: Rule): Ruling {
  return {
    type: 'ask',
    rule: refOf(subject, rule),
    // Agents can write an untrusted file: they choose neither who answers nor what a kernel starts.
    reviewer: trusted ? (rule.reviewer ?? null) : null,
    justification: rule.justification ?? null,
    answerWithinMs: rule.answerWithinMs ?? null,
    uses: [],
  }
}

function closedTo(subject: string, need: Need, limits: readonly Ruling[]): Ruling {
  const ask = limits.find((limit) => limit.type === 'ask')
  const hint =
    ask === undefined
      ? ''
      : ` It may not be asked for either: the rule "${ask.rule.text}" is not requestable.`
  return {
    type: 'deny',
    rule: null,
    reason: `No rule of ${subjectText(subject)} allows ${needText(need)}.${hint}`,
  }
}
