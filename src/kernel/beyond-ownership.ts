import type { AuditEntry } from '../core/audit/entry.ts'
import { type Need, needText } from '../core/capability/need.ts'
import type { Right } from '../core/capability/right.ts'
import { ruleOnAll } from '../core/capability/rule-on.ts'
import { type RuleRef, useIdOf } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { sessionsOf } from '../core/session/sessions-above.ts'
import type { Edges } from './edges.ts'
import { setsAt } from './placed-registration.ts'
import type { PlanPart } from './plan-part.ts'
import { lineageOf, rulingFacts, subjectOf } from './rule-facts.ts'
import { useOnce } from './rule-on-registration.ts'
import type { WorkingRows } from './working-rows.ts'

/** What the rules of an actor say about an act that is no registration, and that ownership alone may not decide. */
export type RuledAct =
  /** Rules that name it allow it. `changes`: the uses of counted rules. */
  | { readonly type: 'allowed'; readonly rule: RuleRef; readonly changes: readonly Change[] }
  /** A rule denies it. */
  | { readonly type: 'denied'; readonly rule: RuleRef }
  /** No rule says so: ownership decides. */
  | { readonly type: 'unnamed' }

/**
 * Rules on an act by several needs, any of which is enough: a process may be named by its pid or by its session. A deny of one of them
 * wins. An ask allows nothing: the act registers nothing that could wait for an answer.
 */
export function* ruleOnAct(
  edges: Pick<Edges, 'machine'>,
  rows: WorkingRows,
  actor: Actor,
  needs: readonly Need[],
  at: number,
): PlanPart<RuledAct> {
  const bare = yield* subjectOf(rows, actor)
  if (bare === null) return UNNAMED
  // No host looks at folders here: the rules that are stored for the folders of the session bind.
  const place = {
    registration: { kind: 'tool', cwd: null },
    session: null,
    places: undefined,
    looksLeft: 0,
  } as const
  const bound = yield* setsAt(edges, rows, place, bare, true)
  if (bound.type !== 'bound' || bound.sets.length === 0) return UNNAMED
  const { sets } = bound
  const own = actor.startsWith('process:') ? yield* rows.process(actor.slice('process:'.length)) : null
  const ceilings = own?.record.ceilings ?? []
  const facts = yield* rulingFacts(rows, sets, ceilings, needs, { at, host: null })
  let allowed: RuledAct = UNNAMED
  for (const need of needs) {
    const ruling = ruleOnAll(sets, [], [need], facts)
    if (ruling.type === 'deny' && ruling.rule !== null) return { type: 'denied', rule: ruling.rule }
    // A ceiling gives no right, and takes away what it does not allow.
    const within = ruleOnAll([], ceilings, [need], facts)
    if (within.type === 'deny' && within.rule !== null) return { type: 'denied', rule: within.rule }
    if (ruling.type !== 'allow' || ruling.rule === null || within.type !== 'allow') continue
    if (allowed.type === 'unnamed') {
      const changes = ruling.uses.map((use) => useOnce(use, facts.uses.get(useIdOf(use)) ?? null))
      allowed = { type: 'allowed', rule: ruling.rule, changes }
    }
  }
  return allowed
}

/** The refusal of a signal to a process that the actor does not own: undefined if a rule of the actor names it. */
export function* refuseSignal(
  edges: Pick<Edges, 'machine'>,
  rows: WorkingRows,
  record: ProcessRecord,
  { type: action, actor, at }: Pick<Intent, 'type' | 'actor' | 'at'>,
  denied: Refusal,
): PlanPart<Refusal | undefined> {
  const needs = yield* needsOfProcess(rows, 'signal', record)
  const ruled = yield* ruleOnAct(edges, rows, actor, needs, at)
  if (ruled.type !== 'allowed') return denied
  rows.add([
    ...ruled.changes,
    { type: 'audit', entry: allowedEntry(ruled, needs, { action, actor, at, pid: record.pid }) },
  ])
  return undefined
}

/** A process, as rules may name it: by its pid, by one above it, or by one of its sessions. */
export function* needsOfProcess(
  rows: WorkingRows,
  right: Right,
  record: ProcessRecord,
): PlanPart<readonly Need[]> {
  const { pid, parent } = record
  const above = parent === null ? [] : yield* lineageOf(rows, parent)
  const ancestors = above.map((row) => row.record.pid)
  const own: Need = { right, resource: { kind: 'process', pid, ancestors }, attributes: {} }
  const sessions = sessionsOf(record).map(
    (path): Need => ({ right, resource: { kind: 'session', path }, attributes: {} }),
  )
  return [own, ...sessions]
}

function allowedEntry(
  { rule }: Extract<RuledAct, { type: 'allowed' }>,
  needs: readonly Need[],
  {
    action,
    actor,
    at,
    pid,
  }: { readonly action: string; readonly actor: Actor; readonly at: number; readonly pid: Pid },
): AuditEntry {
  const inputs = { needs: needs.map(needText) }
  return {
    at,
    actor,
    action,
    target: `process:${pid}`,
    decision: 'allowed',
    rule,
    reason: null,
    inputs,
    trace: null,
  }
}

const UNNAMED: RuledAct = { type: 'unnamed' }
