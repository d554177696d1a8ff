import type { RegisteredImage } from '../image/registered.ts'
import type { RegisteredTool } from '../tool/written-tool.ts'
import type { Rule, RuleLink } from './rule.ts'

/** The rules of one subject, as they are stored. */
export interface RuleSet {
  /**
   * `home`, `workspace:[<machine>:]<folder>`, `file:[<machine>:]<path>`, `session:<id>` or `process:<pid>`. Of `image:<name>` and
   * `image:<name>@<hash>` the set has no rules: it is the image that was registered under this name, and each of its versions. Of
   * `tool:<pid>` it is the tools that this agent has written.
   */
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
  /**
   * Of the home: the approval that was answered for every time last, while other pending requests that such an answer covers may still
   * have to be settled. A kernel goes on with them after a crash.
   */
  readonly settling?: string
  /** Of an image: its content, by whom it was registered, and when. */
  readonly image?: RegisteredImage
  /** Of an agent: the tools that it has written, by name. */
  readonly tools?: readonly RegisteredTool[]
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

/** Whether a set restricts its subject. A person's answer to a request of the subject does not. */
export function binds(set: RuleSet | null): boolean {
  return set !== null && (set.closed || givenRules(set).length > 0)
}

/** The rules of a set that were given to its subject, without the answers to its requests. */
export function givenRules({ rules }: Pick<RuleSet, 'rules'>): readonly Rule[] {
  return rules.filter(({ settles }) => settles === undefined)
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

/** The set without any rule, open again. Null if nothing has to be remembered of it. */
export function cleared(set: RuleSet): RuleSet | null {
  const lastId = lastIdOf(set)
  return lastId === 0 ? null : { ...emptySet(set.subject), lastId }
}

/**
 * The set without the answers to requests of these rules: a later rule of the same id asks again. An answer that answers nothing else
 * is removed. The same set if it has none.
 */
export function withoutAnswersTo(set: RuleSet, subject: string, removed: readonly Rule[]): RuleSet {
  const ids = new Set(removed.map(({ id }) => id))
  const isGone = (link: RuleLink) => link.subject === subject && ids.has(link.rule)
  if (!set.rules.some(({ settles = [] }) => settles.some(isGone))) return set
  const rules = set.rules.flatMap((rule) => {
    if (rule.settles?.some(isGone) !== true) return [rule]
    const settles = rule.settles.filter((link) => !isGone(link))
    return settles.length === 0 ? [] : [{ ...rule, settles }]
  })
  return withRules(set, rules)
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

/** The sets that stored ones stand for. */
export function allSetsIn(sets: readonly RuleSet[]): readonly RuleSet[] {
  return sets.some(({ kept }) => kept !== undefined) ? sets.flatMap(setsIn) : sets
}

/** The subject under which the kept rules of a file are named. */
function keptSubject(subject: string): string {
  return `kept:${subject.slice(subject.indexOf(':') + 1)}`
}

/** Whether a rule closes its set. A person's answer to one request says nothing about the rest. */
export function closes({ effect, settles, preset }: Rule): boolean {
  return preset !== undefined || (effect === 'allow' && settles === undefined)
}
