import type { Rule } from './rule.ts'

/** The rules of one subject, as they are stored. */
export interface RuleSet {
  /** `home`, `workspace:<folder>`, `file:<path>`, `session:<id>` or `process:<pid>`. */
  readonly subject: string
  readonly rules: readonly Rule[]
  /** In a closed set, what nothing allows is denied. A set that was closed once stays so when its allows expire or are revoked. */
  readonly closed: boolean
  /** The file that the rules were loaded from. */
  readonly source: { readonly path: string; readonly hash: string } | null
  /** Whether a person trusts the file. What an untrusted set allows does not count; its asks and denies do. */
  readonly trusted: boolean
  /** Of a file: rules of earlier versions of it, which count until a person accepts the present one. */
  readonly kept?: KeptRules
  /**
   * The highest number of a generated id that was removed. It is not given again: delegations and counters of the removed rule
   * would become those of another one.
   */
  readonly lastId?: number
}

/** The version of a file that a person trusted last, if there is one, and the asks and denies of the versions after it. */
export interface KeptRules {
  readonly rules: readonly Rule[]
  readonly closed: boolean
  readonly trusted: boolean
  /** The hash of the trusted version. */
  readonly hash: string | null
}

/** A set that has no rules yet. */
export function emptySet(subject: string): RuleSet {
  return { subject, rules: [], closed: false, source: null, trusted: true }
}

/** Whether a set restricts its subject. */
export function binds(set: RuleSet | null): boolean {
  return set !== null && (set.closed || set.rules.length > 0)
}

/** The set with other rules. Removing rules never opens it. */
export function withRules(set: RuleSet, rules: readonly Rule[]): RuleSet {
  const lastId = lastIdOf(set)
  return {
    ...set,
    rules,
    closed: set.closed || set.rules.some(closes) || rules.some(closes),
    ...(lastId > lastIdOf({ rules }) ? { lastId } : {}),
  }
}

/** An id that no rule of the set has or had. */
export function nextId(set: Pick<RuleSet, 'rules' | 'lastId'>): string {
  return `r${lastIdOf(set) + 1}`
}

function lastIdOf({ rules, lastId = 0 }: Pick<RuleSet, 'rules' | 'lastId'>): number {
  return Math.max(lastId, ...rules.map(({ id }) => Number(/^r(\d+)$/.exec(id)?.[1] ?? 0)))
}

/** The sets that a stored one stands for: each is asked for itself. */
export function setsIn(set: RuleSet): readonly RuleSet[] {
  const { kept, ...own } = set
  if (kept === undefined) return [set]
  const { rules, closed, trusted } = kept
  return [own, { subject: keptSubject(set.subject), rules, closed, trusted, source: set.source }]
}

/** The subject under which the kept rules of a file are named. */
function keptSubject(subject: string): string {
  return `kept:${subject.slice(subject.indexOf(':') + 1)}`
}

/** Whether a rule closes its set. A person's answer to one request says nothing about the rest. */
export function closes({ effect, settles, preset }: Rule): boolean {
  return preset !== undefined || (effect === 'allow' && settles === undefined)
}
