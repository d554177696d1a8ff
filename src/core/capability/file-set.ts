import { type Refusal, refusal } from '../refusal.ts'
import { type Rule, ruleText } from './rule.ts'
import { closes, type KeptRules, type RuleSet } from './rule-set.ts'

/** One version of a policy file. */
export interface FileVersion {
  readonly subject: string
  readonly path: string
  readonly hash: string
  readonly rules: readonly Rule[]
}

/** More than a person writes by hand. */
const MAX_KEPT_RULES = 2_000

/**
 * The set of a file that has a new version. A file only tightens by itself, because agents can write it: what a new version asks
 * about or denies counts at once; what it allows counts once a person trusts it; and what earlier versions asked about, denied or
 * closed counts until then, too.
 */
export function withVersion(was: RuleSet | null, version: FileVersion): RuleSet | Refusal {
  const { subject, path, hash, rules } = version
  const source = { path, hash }
  const isTrusted = was?.kept?.trusted === true && was.kept.hash === hash
  const set = { subject, rules, closed: rules.some(closes), source, trusted: isTrusted }
  if (was === null || isTrusted) return set
  const kept = keptFrom(was)
  if (kept.rules.length > MAX_KEPT_RULES)
    return refusal(
      'limit_exceeded',
      `${path} has changed so often that ${kept.rules.length} rules of earlier versions are kept.`,
      'Look at them with reeve policy, and trust or forget the file.',
      { limit: 'rules', left: 0, asked: kept.rules.length },
    )
  // A trusted version without rules is kept, too: when the file has that content again, it is trusted.
  return kept.rules.length === 0 && !kept.closed && !kept.trusted ? set : { ...set, kept }
}

/** The set of a file whose present version a person trusts: it alone counts from now on. */
export function trusted({ kept: _kept, ...set }: RuleSet): RuleSet {
  return { ...set, trusted: true }
}

/** The set of a file that a person no longer trusts: only what it permits stops counting, and what it closed stays closed. */
export function untrusted({ kept, ...set }: RuleSet): RuleSet {
  const closed = (set.trusted && set.closed) || (kept?.trusted === true && kept.closed)
  const rules = (kept?.rules ?? []).flatMap((rule) => limitIn(rule) ?? [])
  const own = { ...set, trusted: false }
  return rules.length === 0 && !closed
    ? own
    : { ...own, kept: { rules, closed, trusted: closed, hash: null } }
}

function keptFrom({ rules, closed, source, trusted: isTrusted, kept }: RuleSet): KeptRules {
  if (isTrusted) return { rules, closed, trusted: true, hash: source?.hash ?? null }
  const before = kept ?? { rules: [], closed: false, trusted: false, hash: null }
  const known = new Set(before.rules.map(contentOf))
  const added = rules.flatMap((rule) => {
    const limit = limitIn(rule)
    return limit === undefined || known.has(contentOf(limit)) ? [] : [limit]
  })
  const ids = new Set(before.rules.map(({ id }) => id))
  return {
    ...before,
    rules: [...before.rules, ...added.map((rule) => ({ ...rule, id: freeId(rule.id, ids) }))],
  }
}

/** The id in its file, unless an earlier version gave it to another rule. */
function freeId(id: string, taken: Set<string>): string {
  let free = id
  for (let count = 2; taken.has(free); count++) free = `${id}.${count}`
  taken.add(free)
  return free
}

/** The part of an untrusted rule that holds something back; undefined if it only permits. */
function limitIn({
  requestable: _requestable,
  preset: _preset,
  reviewer: _reviewer,
  ...rule
}: Rule): Rule | undefined {
  return rule.effect === 'allow' ? undefined : rule
}

function contentOf({ id: _id, ...rule }: Rule): string {
  return `${ruleText({ ...rule, id: '' })} ${rule.rights.join()}`
}
