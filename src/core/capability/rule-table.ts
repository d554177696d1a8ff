import { asJson } from '../json/json.ts'
import { isRefusal } from '../refusal.ts'
import { type Constraints, holds } from './constraint.ts'
import { covers, formsOf, lastSegmentOf } from './covers.ts'
import { hostKeys } from './host-pattern.ts'
import { isWithin } from './hours.ts'
import { allOf, type Match, matchIf } from './match.ts'
import type { ConcreteResource, Need } from './need.ts'
import { parseConstraints } from './parse-constraints.ts'
import { isResourceKind, parseResource, type ResourceKind, type ResourcePattern } from './resource.ts'
import { isWidening, type Rule } from './rule.ts'
import { closes } from './rule-set.ts'

/** The rules of a set, compiled: a check looks only at rules that may be about its resource. */
export interface RuleTable {
  readonly byKind: ReadonlyMap<ResourceKind, KindTable>
  readonly byId: ReadonlyMap<string, CompiledRule>
  /** The subjects that delegated rules come from. */
  readonly delegators: readonly string[]
  /** The asks and denies of programs. While one of them counts, a command that cannot be analysed needs consent. */
  readonly shellLimits: readonly CompiledRule[]
  /** It has a rule about one exact action, so that the hash of an action is needed. */
  readonly comparesActions: boolean
  /** It has a rule that closes the set. */
  readonly closes: boolean
  /** It has an allow whose uses are limited, or may be limited where it was delegated. */
  readonly counts: boolean
  /** It has an allow that answers asks. */
  readonly settles: boolean
  /** What it says depends on the need alone: on no time, host, use, delegation or answer. */
  readonly isSteady: boolean
}

interface KindTable {
  readonly byKey: ReadonlyMap<string, readonly CompiledRule[]>
  /** Rules whose key is a wildcard. */
  readonly others: readonly CompiledRule[]
}

export interface CompiledRule {
  readonly rule: Rule
  readonly kind: ResourceKind
  /** Its place in the set. */
  readonly index: number
  /** Null if this version of Reeve cannot read it. */
  readonly pattern: ResourcePattern | null
  readonly constraints: Constraints | null
}

/** A rule that is about a need. */
export interface MatchedRule {
  readonly rule: Rule
  readonly match: Exclude<Match, 'no'>
}

/** The time and the host of a check. Host null: not known. */
export interface CheckedAt {
  readonly at: number
  readonly host: string | null
}

const tables = new WeakMap<readonly Rule[], RuleTable>()

/** The table of a list of rules. It is made once for each list. */
export function tableOf(rules: readonly Rule[]): RuleTable {
  const known = tables.get(rules)
  if (known !== undefined) return known
  const table = compile(rules)
  tables.set(rules, table)
  return table
}

/** The rules that are about a need and count now, in the order of the set. An allow is listed only if it certainly matches. */
export function matching(table: RuleTable, need: Need, when: CheckedAt): readonly MatchedRule[] {
  const ofKind = table.byKind.get(need.resource.kind)
  if (ofKind === undefined) return []
  const keys = keysOf(need.resource)
  const keyed = keys === null ? [...ofKind.byKey.values()] : keys.map((key) => ofKind.byKey.get(key) ?? [])
  const found: { readonly compiled: CompiledRule; readonly match: MatchedRule['match'] }[] = []
  for (const rules of [...keyed, ofKind.others])
    for (const compiled of rules) {
      const match = matchOf(compiled, need, when)
      if (match !== 'no') found.push({ compiled, match })
    }
  if (found.length > 1) found.sort((a, b) => a.compiled.index - b.compiled.index)
  return found.map(({ compiled: { rule }, match }) => ({ rule, match }))
}

/** Whether a rule counts now for a need. A rule that this version cannot read permits nothing, and holds back all it may be about. */
export function matchOf(compiled: CompiledRule, need: Need, when: CheckedAt): Match {
  const { rule } = compiled
  if (!rule.rights.includes(need.right) || !isInForce(compiled, when)) return 'no'
  const match = matchNeed(compiled, need, when.at)
  return isWidening(rule) && match === 'unknown' ? 'no' : match
}

/** Whether a rule counts on this host at this time, for any need. */
export function isInForce({ rule, constraints }: CompiledRule, { at, host }: CheckedAt): boolean {
  if (rule.expiresAt !== undefined && rule.expiresAt <= at) return false
  if (constraints?.hours !== undefined && !isWithin(constraints.hours, at)) return false
  if (rule.hosts === undefined || (host !== null && rule.hosts.includes(host))) return true
  return host === null && !isWidening(rule)
}

/** `shell:sh` without arguments: permits every command, since a shell can start any. As an ask or a deny it is about what cannot be analysed. */
export function isWholeShell({ resource, constraints }: Pick<Rule, 'resource' | 'constraints'>): boolean {
  return resource === 'shell:sh' && constraints?.args === undefined
}

function matchNeed({ rule, pattern, constraints }: CompiledRule, need: Need, at: number): Match {
  if (pattern === null) return 'unknown'
  const resource = coversNeed(rule, pattern, need)
  if (resource === 'no') return 'no'
  return allOf([resource, constraints === null ? 'unknown' : holds(constraints, need, at)])
}

function coversNeed(rule: Rule, pattern: ResourcePattern, { resource, attributes }: Need): Match {
  const isOpaque = attributes.opaque !== undefined
  if (isWholeShell(rule) && (isWidening(rule) || isOpaque)) return matchIf(resource.kind === 'shell')
  // A set that is open permits every program anyway; an allow of one permits none that it finds elsewhere.
  const isCertain = !isOpaque && attributes.widerPath !== true
  if (isWidening(rule) && !isCertain && rule.resource !== 'shell:sh') return 'no'
  return covers(pattern, resource)
}

function compile(rules: readonly Rule[]): RuleTable {
  const compiled = rules.flatMap((rule, index) => compileRule(rule, index))
  const byKind = new Map<ResourceKind, { byKey: Map<string, CompiledRule[]>; others: CompiledRule[] }>()
  for (const one of compiled) {
    const ofKind = byKind.get(one.kind) ?? { byKey: new Map(), others: [] }
    byKind.set(one.kind, ofKind)
    const key = one.pattern === null ? null : keyOf(one.pattern)
    const list = key === null ? ofKind.others : (ofKind.byKey.get(key) ?? [])
    list.push(one)
    if (key !== null) ofKind.byKey.set(key, list)
  }
  return {
    byKind,
    byId: new Map(compiled.map((one) => [one.rule.id, one])),
    delegators: [
      ...new Set(rules.flatMap(({ delegatedFrom = [] }) => delegatedFrom.map(({ subject }) => subject))),
    ],
    shellLimits: compiled.filter(
      ({ kind, rule }) => kind === 'shell' && rule.effect !== 'allow' && rule.rights.includes('execute'),
    ),
    comparesActions: rules.some(({ constraints }) => constraints?.action !== undefined),
    closes: rules.some(closes),
    counts: rules.some(({ uses, delegatedFrom }) => uses !== undefined || delegatedFrom !== undefined),
    settles: rules.some(({ settles }) => settles !== undefined),
    isSteady: rules.every(isSteady),
  }
}

function isSteady({ expiresAt, hosts, uses, delegatedFrom, settles, constraints }: Rule): boolean {
  const limits = [expiresAt, hosts, uses, delegatedFrom, settles, constraints?.hours]
  return limits.every((limit) => limit === undefined)
}

/** A rule of a kind that this version does not know is about no need that it makes. */
function compileRule(rule: Rule, index: number): readonly CompiledRule[] {
  const kind = rule.resource.slice(0, Math.max(rule.resource.indexOf(':'), 0))
  if (!isResourceKind(kind)) return []
  const pattern = parseResource(rule.resource)
  const constraints = parseConstraints(asJson(rule.constraints ?? {}), kind)
  return [
    {
      rule,
      kind,
      index,
      pattern: isRefusal(pattern) ? null : pattern,
      constraints: isRefusal(constraints) ? null : constraints,
    },
  ]
}

/** The key of a pattern; null if it may cover resources of several keys. */
function keyOf(pattern: ResourcePattern): string | null {
  switch (pattern.kind) {
    case 'fs':
      return firstKey(pattern.path.absolute, pattern.path.segments[0])
    case 'shell': {
      const { program } = pattern
      if (program.type === 'any') return null
      if (program.type === 'name') return program.name === '*' || program.name === 'sh' ? null : program.name
      const last = program.path.deep ? undefined : program.path.segments.at(-1)
      return last === undefined || last === '*' ? null : last
    }
    case 'net':
      return pattern.host === '*' ? null : pattern.host
    case 'process':
      return pattern.pid === '*' ? null : pattern.pid
    default:
      return firstKey(false, pattern.path.segments[0])
  }
}

/** The keys of all patterns that may cover a resource, besides wildcards; null if that may be any. */
function keysOf(resource: ConcreteResource): readonly string[] | null {
  switch (resource.kind) {
    case 'fs': {
      const forms = resource.path === null ? null : formsOf(resource.path, resource.workspace)
      if (forms === null) return null
      const keys = [firstKey(false, forms.relative?.[0]), firstKey(true, forms.absolute?.[0])]
      return keys.filter((key) => key !== null)
    }
    case 'shell': {
      const { name, path, real } = resource.program
      const names = [name, path, real].filter((text) => text !== undefined)
      return [...new Set(names.map(lastSegmentOf))]
    }
    case 'net':
      return hostKeys(resource.host)
    case 'process':
      return [...new Set([resource.pid, ...resource.ancestors])]
    default:
      return [resource.path.split('/')[0] ?? '']
  }
}

function firstKey(absolute: boolean, segment: string | undefined): string | null {
  return segment === undefined || segment === '*' ? null : `${absolute ? '/' : ''}${segment}`
}
