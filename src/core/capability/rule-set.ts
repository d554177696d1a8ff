import type { Rule } from './rule.ts'

/** The rules of one subject, as they are stored. */
export interface RuleSet {
  /** `home`, `workspace:<path>`, `session:<id>` or `process:<pid>`. */
  readonly subject: string
  readonly rules: readonly Rule[]
  /** In a closed set, what nothing allows is denied. A set that was closed once stays so when its allows expire or are revoked. */
  readonly closed: boolean
  /** The file that the rules were loaded from. */
  readonly source: { readonly path: string; readonly hash: string } | null
  /** Whether a person trusts the file. What an untrusted set allows does not count; its asks and denies do. */
  readonly trusted: boolean
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
  return { ...set, rules, closed: set.closed || set.rules.some(closes) || rules.some(closes) }
}

/** Whether a rule closes its set. A person's answer to one request says nothing about the rest. */
export function closes({ effect, settles, preset }: Rule): boolean {
  return preset !== undefined || (effect === 'allow' && settles === undefined)
}
