import type { AuditDecision, AuditEntry } from '../core/audit/entry.ts'
import type { Preset } from '../core/capability/presets.ts'
import type { Rule } from '../core/capability/rule.ts'
import {
  cleared,
  closes,
  emptySet,
  nextId,
  type RuleSet,
  withoutAnswersTo,
  withRules,
} from '../core/capability/rule-set.ts'
import { refOf } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { sessionEnded, sessionUnknown } from '../core/session/session.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { presetEntry, withoutPreset, withPreset } from './presets.ts'
import { type OwnedRule, type Removed, removalChanges, subjectsAnswering } from './removed-rules.ts'

/** Enough for any policy, and a bound for the row that every check reads. */
export const MAX_RULES = 10_000

/** Adds a rule to the rule set of a subject. `ruleOf` gets the id of the new rule. */
export function addRule(
  edges: Edges,
  actor: Actor,
  subject: string,
  ruleOf: (id: string) => Rule | Refusal,
): Promise<Rule | Refusal> {
  return write<Rule>(edges, function* (at) {
    const added = yield* addition(subject, ruleOf)
    if (isRefusal(added)) return { answer: added, changes: [] }
    const { rule, change } = added
    return { answer: rule, changes: [change, auditOf(actor, subject, rule, 'granted', at)] }
  })
}

/** Removes a rule, and the answers to its requests. The set stays closed if it was. */
export async function removeRule(
  edges: Edges,
  actor: Actor,
  subject: string,
  id: string,
): Promise<{ readonly rule: Rule; readonly answers: readonly OwnedRule[] } | Refusal> {
  const known = (await edges.store.ask({ ask: 'ruleSet', subject }))?.rules.filter((rule) => rule.id === id)
  const answering = await subjectsAnswering(edges, subject, known ?? [])
  return write(edges, function* (at) {
    const was = yield* know({ ask: 'ruleSet', subject })
    const removed = yield* removal(actor, was, { subject, id, at, answering })
    if (isRefusal(removed)) return { answer: removed, changes: [] }
    const { rule, answers, changes } = removed
    return {
      answer: { rule, answers },
      changes: [...changes, auditOf(actor, subject, rule, 'revoked', at)],
    }
  })
}

/** Gives a subject the rules of a preset in place of those of an earlier one; null: removes them, which opens the set again. */
export async function setPreset(
  edges: Edges,
  actor: Actor,
  subject: string,
  preset: Preset | null,
  rulesOf: (set: RuleSet) => RuleSet = (set) => set,
): Promise<RuleSet | Refusal> {
  const ofPreset = (set: RuleSet | null) => set?.rules.filter((rule) => rule.preset !== undefined) ?? []
  const known = ofPreset(await edges.store.ask({ ask: 'ruleSet', subject }))
  const answering = await subjectsAnswering(edges, subject, known)
  return write<RuleSet>(edges, function* (at) {
    const absent = yield* refuseAbsent(subject)
    if (absent !== undefined) return { answer: absent, changes: [] }
    const was = yield* know({ ask: 'ruleSet', subject })
    const set = was ?? emptySet(subject)
    const next = rulesOf(preset === null ? withoutPreset(set) : withPreset(set, preset))
    const removed = ofPreset(was).filter(({ id }) => next.rules.every((rule) => rule.id !== id))
    const { changes } = yield* removalChanges(subject, { actor, at, was, rest: next, removed, answering })
    const entry = presetEntry(actor, subject, preset, at)
    return {
      answer: withoutAnswersTo(next, subject, removed),
      changes: [...changes, { type: 'audit', entry }],
    }
  })
}

/** Removes all rules of a subject, and opens its set again. */
export async function clearRules(edges: Edges, actor: Actor, subject: string): Promise<RuleSet | Refusal> {
  const known = (await edges.store.ask({ ask: 'ruleSet', subject }))?.rules ?? []
  const answering = await subjectsAnswering(edges, subject, known)
  return write<RuleSet>(edges, function* (at) {
    const was = yield* know({ ask: 'ruleSet', subject })
    if (was === null) return { answer: emptySet(subject), changes: [] }
    const kept = was.rules.find(({ revocable }) => revocable === false)
    if (kept !== undefined) return { answer: irrevocable(subject, kept.id), changes: [] }
    const inputs = { rules: was.rules.length, closed: was.closed || was.rules.some(closes) }
    const entry: AuditEntry = {
      at,
      actor,
      action: 'clearRules',
      target: subject,
      decision: 'revoked',
      rule: null,
      reason: null,
      inputs,
      trace: null,
    }
    const removal = { actor, at, was, rest: cleared(was), removed: was.rules, answering }
    const { changes } = yield* removalChanges(subject, removal)
    return { answer: was, changes: [...changes, { type: 'audit', entry }] }
  })
}

/** The change that adds a rule to a set. */
export function* addition(
  subject: string,
  ruleOf: (id: string) => Rule | Refusal,
): PlanPart<{ readonly rule: Rule; readonly change: Change } | Refusal> {
  const absent = yield* refuseAbsent(subject)
  if (absent !== undefined) return absent
  const was = yield* know({ ask: 'ruleSet', subject })
  const set = was ?? emptySet(subject)
  const rule = ruleOf(nextId(set))
  if (isRefusal(rule)) return rule
  if (set.rules.some(({ id }) => id === rule.id)) return taken(subject, rule.id)
  if (set.rules.length >= MAX_RULES) return full(subject)
  return { rule, change: { type: 'rule_set', was, ruleSet: withRules(set, [...set.rules, rule]) } }
}

/** The changes that remove a rule from a set. `answering`: the other subjects that may have answers to its requests. */
export function* removal(
  actor: Actor,
  was: RuleSet | null,
  {
    subject,
    id,
    at,
    answering = [],
  }: { subject: string; id: string; at: number; answering?: readonly string[] },
): PlanPart<({ readonly rule: Rule } & Removed) | Refusal> {
  const rule = was?.rules.find((one) => one.id === id)
  if (was === null || rule === undefined) return unknownRule(subject, id)
  if (rule.revocable === false) return irrevocable(subject, id)
  const rules = was.rules.filter((one) => one !== rule)
  const rest = withRules(was, rules)
  const removed = yield* removalChanges(subject, { actor, at, was, rest, removed: [rule], answering })
  return { rule, ...removed }
}

export function auditOf(
  actor: Actor,
  subject: string,
  rule: Rule,
  decision: Extract<AuditDecision, 'granted' | 'revoked'>,
  at: number,
  more: { readonly action?: string; readonly inputs?: JsonObject } = {},
): Change {
  const entry = {
    at,
    actor,
    action: decision === 'granted' ? 'addRule' : 'removeRule',
    target: subject,
    decision,
    rule: refOf(subject, rule),
    reason: rule.justification ?? null,
    inputs: {},
    trace: null,
    ...more,
  }
  return { type: 'audit', entry }
}

export async function write<Answer>(
  edges: Edges,
  plan: (at: number) => PlanPart<{ readonly answer: Answer | Refusal; readonly changes: readonly Change[] }>,
): Promise<Answer | Refusal> {
  const at = edges.clock.now()
  const answer = await edges.store.write<Answer | Refusal>(() => plan(at))
  edges.onAudited?.()
  return answer
}

/** A set of rules goes with its session or process, so it must not be made after they are gone. */
function* refuseAbsent(subject: string): PlanPart<Refusal | undefined> {
  const id = subject.slice(subject.indexOf(':') + 1)
  if (subject.startsWith('session:')) {
    const session = yield* know({ ask: 'session', id })
    if (session === null) return sessionUnknown(id)
    return session.endedAt === null ? undefined : sessionEnded(session)
  }
  if (!subject.startsWith('process:')) return undefined
  const row = yield* know({ ask: 'process', pid: id })
  return row === null
    ? refusal('unknown_pid', `There is no process ${id}.`, 'List the processes to see which there are.')
    : undefined
}

function unknownRule(subject: string, id: string): Refusal {
  return refusal(
    'not_found',
    `The rules of ${subject} have no rule ${id}.`,
    'List them to see which there are.',
  )
}

function irrevocable(subject: string, id: string): Refusal {
  return refusal('conflict', `The rule ${id} of ${subject} cannot be revoked.`, 'It counts until it expires.')
}

function taken(subject: string, id: string): Refusal {
  return refusal(
    'conflict',
    `The rules of ${subject} have a rule ${id} already.`,
    'Remove it first, or leave the id out.',
  )
}

export function full(subject: string): Refusal {
  return refusal(
    'limit_exceeded',
    `The rule set of ${subject} has ${MAX_RULES} rules, and no more are stored.`,
    'Remove some.',
    { limit: 'rules', left: 0, asked: 1 },
  )
}
