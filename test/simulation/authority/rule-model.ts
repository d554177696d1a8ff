import type { Rule } from '../../../src/core/capability/rule.ts'

/** What an act needs, as far as the rules of these worlds can tell. */
export interface ModelNeed {
  readonly right: string
  readonly kind: string
  readonly name: string
  readonly args: readonly string[]
}

export interface ModelRuling {
  /** `open`: no rule is about it, and no set is closed. */
  readonly type: 'open' | 'allow' | 'ask' | 'deny'
  /** The rules that say so, as `subject id`; empty if a closed set has none. */
  readonly rules: readonly string[]
  /** The counted rules that it uses once, as `subject id`. */
  readonly uses: readonly string[]
}

interface ModelSet {
  readonly subject: string
  readonly rules: readonly ModelRule[]
  readonly closed: boolean
}

interface ModelRule extends Rule {
  /** A rule that is removed and added again is another one. */
  readonly instance: number
  /** The instances that it was delegated from. */
  readonly links: readonly string[]
}

interface RulesOf {
  readonly subject: string
  readonly rules: readonly Rule[]
}

/** The rules as the documentation describes them: simple and slow, and written without the code under test. */
export class RuleModel {
  readonly #sets = new Map<string, ModelSet>()
  readonly #used = new Map<string, number>()
  #instances = 0

  /** The set of a subject has these rules now. */
  changeSet({ subject, rules }: RulesOf): void {
    const before = this.#sets.get(subject)
    const known = new Map(before?.rules.map((rule) => [rule.id, rule]))
    const now = rules.map((rule): ModelRule => {
      const same = known.get(rule.id)
      if (same !== undefined) return { ...same, ...rule }
      this.#used.delete(`${subject} ${rule.id}`)
      const links = (rule.delegatedFrom ?? []).map((link) => this.#instanceOf(link.subject, link.rule))
      return { ...rule, instance: ++this.#instances, links }
    })
    const closed = before?.closed === true || now.some(closes)
    this.#sets.set(subject, { subject, rules: now, closed })
  }

  removeSet(subject: string): void {
    this.#sets.delete(subject)
    for (const key of [...this.#used.keys()]) if (key.startsWith(`${subject} `)) this.#used.delete(key)
  }

  isClosed(subject: string): boolean {
    return this.#sets.get(subject)?.closed === true
  }

  used(rule: string): number {
    return this.#used.get(rule) ?? 0
  }

  use(rule: string, times: number): void {
    this.#used.set(rule, this.used(rule) + times)
  }

  /** Of several sets the strictest answer holds. */
  rule(subjects: readonly string[], ceilings: readonly RulesOf[], need: ModelNeed, at: number): ModelRuling {
    const sets = subjects.flatMap((subject) => this.#sets.get(subject) ?? [])
    const above = ceilings.map(
      ({ subject, rules }): ModelSet => ({
        subject,
        rules: rules.map((rule) => ({ ...rule, instance: 0, links: [] })),
        closed: true,
      }),
    )
    const rulings = [...sets, ...above].map((set) => this.#ruleOf(set, need, at))
    const type = (['deny', 'ask', 'allow'] as const).find((one) =>
      rulings.some((ruling) => ruling.type === one),
    )
    return {
      type: type ?? 'open',
      rules: rulings.filter((ruling) => ruling.type === type).flatMap(({ rules }) => rules),
      uses: type === 'deny' ? [] : [...new Set(rulings.flatMap(({ uses }) => uses))],
    }
  }

  #ruleOf(set: ModelSet, need: ModelNeed, at: number): ModelRuling {
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
          .map(({ effect, id }) => ({ effect, name: `${from.subject} ${id}` })),
    )
    const denies = limits.filter(({ effect }) => effect === 'deny').map(({ name }) => name)
    const asks = limits.filter(({ effect }) => effect === 'ask').map(({ name }) => name)
    if (denies.length > 0) return { type: 'deny', rules: denies, uses: [] }
    const allow = this.#allowOf(set, about, need, at)
    if (allow !== undefined) return asks.length === 0 ? allow : { ...allow, type: 'ask', rules: asks }
    const requests = about
      .filter(({ requestable }) => requestable === true)
      .map(({ id }) => `${set.subject} ${id}`)
    if (requests.length > 0) return { type: 'ask', rules: [...requests, ...asks], uses: [] }
    if (set.closed) return { type: 'deny', rules: [], uses: [] }
    return { type: asks.length === 0 ? 'open' : 'ask', rules: asks, uses: [] }
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
      for (const rule of rules) if (`${subject} ${rule.instance}` === link) return { subject, rule }
    return undefined
  }

  #instanceOf(subject: string, id: string): string {
    const rule = this.#sets.get(subject)?.rules.find((one) => one.id === id)
    return `${subject} ${rule?.instance ?? 'none'}`
  }
}

function inForce({ rules }: ModelSet, need: ModelNeed, at: number): readonly ModelRule[] {
  return rules.filter((rule) => isInForce(rule, need, at))
}

function isInForce(rule: Rule, { right, kind, name, args }: ModelNeed, at: number): boolean {
  const [ofKind, pattern] = [
    rule.resource.split(':', 1)[0],
    rule.resource.slice(rule.resource.indexOf(':') + 1),
  ]
  const tokens = rule.constraints?.args ?? []
  return (
    rule.rights.some((one) => one === right) &&
    (rule.expiresAt === undefined || at < rule.expiresAt) &&
    ofKind === kind &&
    (pattern === '**' || pattern === name) &&
    tokens.every((token, index) => token === args[index])
  )
}

/** What a person's answer allows says nothing about the rest. */
function closes({ effect, settles, preset }: Rule): boolean {
  return preset !== undefined || (effect === 'allow' && settles === undefined)
}
