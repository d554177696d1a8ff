import type { Rule } from '../../../src/core/capability/rule.ts'
import { FileModel, type ModelVersion } from './file-model.ts'

/** What an act needs, as far as the rules of these worlds can tell. */
export interface ModelNeed {
  readonly right: string
  readonly kind: string
  readonly name: string
  readonly args: readonly string[]
  /** A closed set allows it, unless it has an allow that is about it. */
  readonly isImplied?: true
  /** What makes a later act the same one, for each grant that remembers an answer. */
  readonly keys?: readonly string[]
}

export interface ModelRuling {
  /** `open`: no rule is about it, and no set is closed. */
  readonly type: 'open' | 'allow' | 'ask' | 'deny'
  /** The rules that say so, as `subject id`; empty if a closed set has none. */
  readonly rules: readonly string[]
  /** The counted rules that it uses once, as `subject id`. */
  readonly uses: readonly string[]
  /** Of an ask: the same rules by instance. An answer is about these, and about none that is added later. */
  readonly asks: readonly string[]
  /** Of an ask: the process that decides, if no rule wants a person to. */
  readonly reviewer: string | null
}

/** A set of rules as it counts. What an untrusted one allows does not count, nor does its reviewer. */
export interface ModelSet {
  readonly subject: string
  readonly rules: readonly ModelRule[]
  readonly closed: boolean
  readonly trusted: boolean
}

export interface ModelRule extends Rule {
  /** A rule that is removed and added again is another one. */
  readonly instance: string
  /** The instances that it was delegated from. */
  readonly links: readonly string[]
  /** Of an answer that counts for more than one time. */
  readonly answer?: RememberedAnswer | undefined
}

/** What a person approved for more than one time. */
export interface RememberedAnswer {
  readonly key: string
  /** The instances of the asks that it answers. */
  readonly answers: readonly string[]
}

interface RulesOf {
  readonly subject: string
  readonly rules: readonly Rule[]
}

export const OPEN: ModelRuling = { type: 'open', rules: [], uses: [], asks: [], reviewer: null }

/** The rules as the documentation describes them: simple and slow, and written without the code under test. */
export class RuleModel {
  readonly files: FileModel
  readonly #sets = new Map<string, ModelSet>()
  readonly #used = new Map<string, number>()
  #instances = 0

  constructor(versionOf: (hash: string) => ModelVersion) {
    this.files = new FileModel(versionOf)
  }

  /** The set of a subject has these rules now. `answer`: what a person has just approved, which new answers in it are about. */
  changeSet({ subject, rules }: RulesOf, answer?: RememberedAnswer): void {
    const before = this.#sets.get(subject)
    const known = new Map(before?.rules.map((rule) => [rule.id, rule]))
    const now = rules.map((rule): ModelRule => {
      const same = known.get(rule.id)
      const remembered = rule.settles === undefined ? {} : { answer: joined(same?.answer, rule, answer) }
      if (same !== undefined) return { ...same, ...rule, ...remembered }
      this.#used.delete(`${subject} ${rule.id}`)
      const links = (rule.delegatedFrom ?? []).map((link) => this.#instanceOf(link.subject, link.rule))
      return { ...rule, instance: `${subject} #${++this.#instances}`, links, ...remembered }
    })
    const closed = before?.closed === true || now.some(closes)
    this.#sets.set(subject, { subject, rules: now, closed, trusted: true })
  }

  removeSet(subject: string): void {
    this.#sets.delete(subject)
    this.files.forget(subject)
    for (const key of [...this.#used.keys()]) if (key.startsWith(`${subject} `)) this.#used.delete(key)
  }

  isClosed(subject: string): boolean {
    return this.#sets.get(subject)?.closed === true
  }

  /** Whether one of these sets has a rule. */
  hasRules(subjects: readonly string[]): boolean {
    return this.#setsOf(subjects).some(({ rules }) => rules.length > 0)
  }

  /** Whether one of these sets holds an answer that counts for more than one time. */
  hasAnswers(subjects: readonly string[]): boolean {
    return this.#setsOf(subjects).some(({ rules }) => rules.some(({ answer }) => answer !== undefined))
  }

  used(rule: string): number {
    return this.#used.get(rule) ?? 0
  }

  use(rule: string, times: number): void {
    this.#used.set(rule, this.used(rule) + times)
  }

  /** A rule that is gone has no uses that could be given back. */
  removeUse(rule: string): void {
    this.#used.delete(rule)
  }

  /** Of several sets the strictest answer holds. */
  rule(subjects: readonly string[], ceilings: readonly RulesOf[], need: ModelNeed, at: number): ModelRuling {
    const sets = this.#setsOf(subjects)
    const above = ceilings.map(
      ({ subject, rules }): ModelSet => ({
        subject,
        rules: rules.map((rule) => ({ ...rule, instance: `${subject} ${rule.id}`, links: [] })),
        closed: true,
        trusted: true,
      }),
    )
    const answered = new Set(
      sets
        .filter(({ trusted }) => trusted)
        .flatMap((set) => inForce(set, need, at))
        .flatMap(({ answer }) => answer?.answers ?? []),
    )
    const rulings = [...sets, ...above].map((set) => this.#ruleOf(set, need, at, answered))
    const type = (['deny', 'ask', 'allow'] as const).find((one) =>
      rulings.some((ruling) => ruling.type === one),
    )
    const deciding = rulings.filter((ruling) => ruling.type === type)
    return {
      type: type ?? 'open',
      rules: deciding.flatMap(({ rules }) => rules),
      uses: type === 'deny' ? [] : [...new Set(rulings.flatMap(({ uses }) => uses))],
      asks: type === 'ask' ? deciding.flatMap(({ asks }) => asks) : [],
      reviewer:
        type === 'ask' && deciding.every((one) => one.reviewer !== null)
          ? (deciding[0]?.reviewer ?? null)
          : null,
    }
  }

  #setsOf(subjects: readonly string[]): readonly ModelSet[] {
    return subjects.flatMap((subject) => this.#sets.get(subject) ?? this.files.setsOf(subject))
  }

  #ruleOf(set: ModelSet, need: ModelNeed, at: number, answered: ReadonlySet<string>): ModelRuling {
    const about = inForce(set, need, at)
    const delegators = new Set(
      set.rules.flatMap(({ delegatedFrom = [] }) => delegatedFrom.map((one) => one.subject)),
    )
    const limits = [set, ...[...delegators].flatMap((subject) => this.#sets.get(subject) ?? [])].flatMap(
      (from) =>
        inForce(from, need, at)
          .filter(
            ({ effect, requestable }) => effect === 'deny' || (effect === 'ask' && requestable !== true),
          )
          .filter(({ effect, instance }) => effect === 'deny' || !answered.has(instance))
          .map((rule) => limitOf(from, rule)),
    )
    const denies = limits.filter(({ effect }) => effect === 'deny').map(({ name }) => name)
    const asks = limits.filter(({ effect }) => effect === 'ask')
    if (denies.length > 0) return { ...OPEN, type: 'deny', rules: denies }
    const allow = set.trusted ? this.#allowOf(set, about, need, at) : undefined
    if (allow !== undefined) return asks.length === 0 ? allow : { ...asked(asks), uses: allow.uses }
    if (need.isImplied === true && !set.rules.some((rule) => isAllowAbout(rule, need)))
      return asks.length === 0 ? OPEN : asked(asks)
    const requestable = about.filter((rule) => rule.requestable === true)
    const requests = requestable
      .filter(({ instance }) => !answered.has(instance))
      .map((rule) => limitOf(set, rule))
    if (requestable.length > 0)
      return requests.length + asks.length === 0 ? OPEN : asked([...requests, ...asks])
    if (set.closed && set.trusted) return { ...OPEN, type: 'deny' }
    return asks.length === 0 ? OPEN : asked(asks)
  }

  /** An allow counts while the rules that it was delegated from do, and while all of them have uses left. */
  #allowOf(set: ModelSet, about: readonly ModelRule[], need: ModelNeed, at: number): ModelRuling | undefined {
    const allows = about
      .filter(({ effect, links }) => effect === 'allow' && links.every((link) => this.#holds(link, need, at)))
      .map((rule) => ({ name: `${set.subject} ${rule.id}`, uses: this.#countedOf(set.subject, rule) }))
      .filter(({ uses }) => uses.every(({ name, most }) => this.used(name) < most))
    const best = allows.find(({ uses }) => uses.length === 0) ?? allows[0]
    if (best === undefined) return undefined
    return {
      ...OPEN,
      type: 'allow',
      rules: allows.map(({ name }) => name),
      uses: best.uses.map(({ name }) => name),
    }
  }

  #countedOf(subject: string, rule: ModelRule): readonly { readonly name: string; readonly most: number }[] {
    const own = { name: `${subject} ${rule.id}`, most: rule.uses }
    const held = rule.links.map((link) => {
      const found = this.#linked(link)
      return { name: `${found?.subject} ${found?.rule.id}`, most: found?.rule.uses }
    })
    return [own, ...held].flatMap(({ name, most }) => (most === undefined ? [] : [{ name, most }]))
  }

  #holds(link: string, need: ModelNeed, at: number): boolean {
    const found = this.#linked(link)
    return found !== undefined && found.rule.effect === 'allow' && isInForce(found.rule, need, at)
  }

  #linked(link: string): { readonly subject: string; readonly rule: ModelRule } | undefined {
    for (const { subject, rules } of this.#sets.values())
      for (const rule of rules) if (rule.instance === link) return { subject, rule }
    return undefined
  }

  #instanceOf(subject: string, id: string): string {
    const rule = this.#sets.get(subject)?.rules.find((one) => one.id === id)
    return rule?.instance ?? 'none'
  }
}

interface Limit {
  readonly effect: Rule['effect']
  readonly name: string
  readonly instance: string
  readonly reviewer: string | null
}

function limitOf({ subject, trusted }: ModelSet, { effect, id, instance, reviewer }: ModelRule): Limit {
  return { effect, name: `${subject} ${id}`, instance, reviewer: trusted ? (reviewer ?? null) : null }
}

/** A person decides if only one of the rules wants that. */
function asked(asks: readonly Limit[]): ModelRuling {
  const isReviewed = asks.every(({ reviewer }) => reviewer !== null)
  return {
    type: 'ask',
    rules: asks.map(({ name }) => name),
    uses: [],
    asks: asks.map(({ instance }) => instance),
    reviewer: isReviewed ? (asks[0]?.reviewer ?? null) : null,
  }
}

/** Also one that has expired or has no uses left. */
function isAllowAbout({ effect, rights, resource }: ModelRule, { right, kind, name }: ModelNeed): boolean {
  return (
    effect === 'allow' &&
    rights.some((one) => one === right) &&
    [`${kind}:**`, `${kind}:${name}`].includes(resource)
  )
}

function inForce({ rules }: ModelSet, need: ModelNeed, at: number): readonly ModelRule[] {
  return rules.filter((rule) => isInForce(rule, need, at))
}

function isInForce(rule: ModelRule, { right, kind, name, args, keys = [] }: ModelNeed, at: number): boolean {
  if (rule.settles !== undefined)
    return rule.answer !== undefined && keys.includes(rule.answer.key) && isBefore(rule, at)
  const [ofKind, pattern] = [
    rule.resource.split(':', 1)[0],
    rule.resource.slice(rule.resource.indexOf(':') + 1),
  ]
  const tokens = rule.constraints?.args ?? []
  return (
    rule.rights.some((one) => one === right) &&
    isBefore(rule, at) &&
    ofKind === kind &&
    (pattern === '**' || pattern === name) &&
    tokens.every((token, index) => token === args[index])
  )
}

function isBefore({ expiresAt }: Rule, at: number): boolean {
  return expiresAt === undefined || at < expiresAt
}

/** An answer that is given again answers what either of them did. */
function joined(
  before: RememberedAnswer | undefined,
  { settles = [] }: Rule,
  answer: RememberedAnswer | undefined,
): RememberedAnswer | undefined {
  // The set changed for another reason, or the rules that it answers are no longer asked about.
  if (answer === undefined || settles.length === 0 || (before !== undefined && before.key !== answer.key))
    return before
  return { key: answer.key, answers: [...(before?.answers ?? []), ...answer.answers] }
}

/** What a person's answer allows says nothing about the rest. */
function closes({ effect, settles, preset }: Rule): boolean {
  return preset !== undefined || (effect === 'allow' && settles === undefined)
}
