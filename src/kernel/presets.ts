import type { AuditEntry } from '../core/audit/entry.ts'
import { type Preset, rulesOfPreset } from '../core/capability/presets.ts'
import { closes, emptySet, givenRules, type RuleSet, withRules } from '../core/capability/rule-set.ts'
import type { Change } from '../core/change.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { presetOnOpening } from '../core/session/session-preset.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'

/** The preset that a session is asked to begin with. */
export interface AskedPreset {
  readonly preset: Preset
  /** The person who asks for it, or the actor that opens the session. */
  readonly by: Actor
  /** Whether the caller may be a person: a program that Reeve started changes no rules, even as the host. */
  readonly mayBePerson: boolean
}

/** The changes that give a session its preset, in the plan that opens it: there is no moment at which it has no rules. */
export function* presetChanges(
  edges: Edges,
  actor: Actor,
  id: string,
  { isNew, asked }: { readonly isNew: boolean; readonly asked: AskedPreset | undefined },
): PlanPart<readonly Change[] | Refusal> {
  const { sessionPreset: byDefault } = edges
  if (asked === undefined && (!isNew || byDefault === undefined)) return []
  const subject = `session:${id}`
  const was = yield* know({ ask: 'ruleSet', subject })
  const mayGiveRules =
    asked?.mayBePerson === true && edges.authorize(actor, 'admin', { type: 'session', id }) === undefined
  const preset = presetOnOpening(id, asked?.preset, { isNew, rules: was, byDefault, mayGiveRules })
  if (isRefusal(preset)) return preset
  if (preset === null) return []
  return [
    { type: 'rule_set', was, ruleSet: withPreset(was ?? emptySet(subject), preset) },
    { type: 'audit', entry: presetEntry(asked?.by ?? actor, subject, preset, edges.clock.now()) },
  ]
}

/** Whether a session has rules that it would lose if it were deleted and opened again. It may lose what a person answered to it. */
export function hasGivenRules(set: RuleSet | null, sessionPreset: Preset | undefined): boolean {
  if (set === null) return false
  const given = givenRules(set)
  return (
    given.some(({ preset }) => preset === undefined || preset !== sessionPreset) ||
    (set.closed && given.length === 0)
  )
}

/** The set with the rules of a preset, in place of those of an earlier one. */
export function withPreset(set: RuleSet, preset: Preset): RuleSet {
  return withRules(set, [...set.rules.filter((rule) => rule.preset === undefined), ...rulesOfPreset(preset)])
}

/** The set without the rules of its preset. A person removes it as a whole, so the set is as open as its other rules leave it. */
export function withoutPreset(set: RuleSet): RuleSet {
  const rules = set.rules.filter((rule) => rule.preset === undefined)
  return { ...set, rules, closed: rules.some(closes) }
}

export function presetEntry(actor: Actor, subject: string, preset: Preset | null, at: number): AuditEntry {
  return {
    at,
    actor,
    action: 'setPreset',
    target: subject,
    decision: preset === null ? 'revoked' : 'granted',
    rule: null,
    reason: null,
    inputs: { preset },
    trace: null,
  }
}
