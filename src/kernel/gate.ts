import type { AuditDecision, AuditEntry } from '../core/audit/entry.ts'
import { filesText, UNANALYSED, withoutInput } from '../core/capability/action.ts'
import { needText } from '../core/capability/need.ts'
import type { RuleRef, Ruling } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import { asJson } from '../core/json/json.ts'
import type { ApprovalRequested } from '../core/process/event.ts'
import type { RuledOn } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import { permissionApproval } from './permission-approval.ts'
import type { PlanPart } from './plan-part.ts'
import { policyInvalid } from './policy-files.ts'
import type { Subject } from './rule-facts.ts'
import {
  type GatedRegistration,
  type Missing,
  type Ruled,
  ruleOnRegistration,
} from './rule-on-registration.ts'
import type { Uses } from './rule-uses.ts'
import type { WorkingRows } from './working-rows.ts'
import type { PolicyFileFound } from './workspaces.ts'

/** What the rules say about a registration. `changes` belong to the transaction, also to that of a refusal. */
export type GateAnswer =
  /** `uses`: of counted rules. `ruledOn`: of a command that was resolved for the rules. */
  | {
      readonly type: 'open'
      readonly uses: Uses
      readonly changes: readonly Change[]
      readonly ruledOn?: RuledOn
    }
  /** The host has to find out more first. */
  | { readonly type: 'unresolved'; readonly missing: Missing }
  | {
      readonly type: 'ask'
      readonly approval: ApprovalRequested
      readonly uses: Uses
      readonly changes: readonly Change[]
    }
  | Denied

/** `changes`: the entry of the audit. */
export interface Denied {
  readonly type: 'denied'
  readonly refusal: Refusal
  readonly changes: readonly Change[]
}

/** The answer where no rule binds the actor. */
export const OPEN: GateAnswer = { type: 'open', uses: [], changes: [] }

/** Of the effects that the entry of a denial names as its target. */
const MAX_TARGET_CHARS = 500

/**
 * The gate of every registration: rules on its effects, with the facts of the transaction that registers it. Without rules that
 * bind the actor it is open. The rule sets of an actor are in the store's cache; only those of a new epoch are read.
 */
export function* gateOf(edges: Edges, rows: WorkingRows, gated: GatedRegistration): PlanPart<GateAnswer> {
  const answered = yield* ruleOnRegistration(edges, rows, gated)
  if (answered.type === 'unbound') return OPEN
  if (answered.type === 'missing') return { type: 'unresolved', missing: answered.missing }
  if (answered.type === 'invalid') return yield* withoutPolicy(edges, gated, answered.subject, answered.file)
  const { ruled } = answered
  const { spec } = gated.registration
  const { ruling, needs } = ruled
  if (ruling.type === 'allow') {
    const files = ruledFiles(edges, gated, ruling.uses)
    if (ruling.rule === null) return files === undefined ? OPEN : { ...OPEN, ...files }
    const entry = entryOf(gated, ruled, 'allowed', ruling.rule, null)
    const changes: Change[] = [...ruled.used, { type: 'audit', entry, about: [spec] }]
    return { type: 'open', uses: ruling.uses, changes, ...files }
  }
  if (ruling.type === 'ask') return yield* asked(edges, rows, gated, ruled, ruling)
  // A looping agent repeats its denied requests: equal ones are counted, and the audit does not grow.
  const audit = new PlannedAudit(edges)
  const target = needs.map(needText).join('; ').slice(0, MAX_TARGET_CHARS)
  yield* audit.deny({ ...entryOf(gated, ruled, 'denied', ruling.rule, ruling.reason), target }, [spec])
  return { type: 'denied', refusal: denied(ruled, ruling), changes: audit.changes }
}

/** What has to be the same when the command begins. Undefined if it was not resolved. */
function ruledFiles(
  { hash }: Edges,
  { resolved }: GatedRegistration,
  uses: Uses,
): { readonly ruledOn: RuledOn } | undefined {
  // One that was not analysed was allowed to do everything.
  if (resolved === null || resolved === UNANALYSED) return undefined
  const taken = uses.length === 0 ? {} : { uses: uses.map(({ subject, id }) => ({ subject, id })) }
  return { ruledOn: { hash: hash(filesText(resolved)), ...taken } }
}

function* asked(
  edges: Edges,
  rows: WorkingRows,
  gated: GatedRegistration,
  ruled: Ruled,
  ruling: Extract<Ruling, { type: 'ask' }>,
): PlanPart<GateAnswer> {
  const { used } = ruled
  if (gated.change === 'unknown') return { type: 'unresolved', missing: { type: 'preview' } }
  const approval = yield* permissionApproval(edges, rows, gated, ruled, ruling)
  const entry = entryOf(gated, ruled, 'asked', ruling.rule, ruling.justification)
  const { id, expiresAt, request } = approval
  return {
    type: 'ask',
    approval: { approval: id, actionHash: request.actionHash, expiresAt },
    uses: request.uses,
    changes: [
      ...used,
      { type: 'approval', was: null, approval },
      { type: 'audit', entry, about: [gated.registration.spec] },
    ],
  }
}

function entryOf(
  { registration, at, trace }: GatedRegistration,
  { subject, action, needs }: Ruled,
  decision: AuditDecision,
  rule: RuleRef | null,
  reason: string | null,
): AuditEntry {
  return {
    at,
    actor: subject.actor,
    action: 'spawn',
    target: `process:${registration.pid}`,
    decision,
    rule,
    reason,
    inputs: { needs: needs.map(needText), act: asJson(withoutInput(action.act)), cwd: action.cwd },
    trace,
  }
}

function denied({ subject, needs }: Ruled, { rule, reason }: Extract<Ruling, { type: 'deny' }>): Refusal {
  return refusal(
    'denied',
    `${subject.actor} may not do this: ${reason}`,
    'Do it another way, or ask the person who set the rules.',
    { subject: subject.actor, rule: rule?.text ?? null, needs: needs.map(needText) },
  )
}

/** What a file that cannot be read denies or asks about is not known, so nothing runs until a person has corrected it. */
export function* withoutPolicy(
  edges: Edges,
  { registration, at, trace }: GatedRegistration,
  { actor }: Subject,
  file: PolicyFileFound,
): PlanPart<Denied> {
  const refused = policyInvalid(file)
  const audit = new PlannedAudit(edges)
  yield* audit.deny({
    at,
    actor,
    action: 'spawn',
    target: file.path,
    decision: 'denied',
    rule: null,
    reason: refused.message,
    inputs: { kind: registration.kind, cwd: registration.cwd },
    trace,
  })
  return { type: 'denied', refusal: refused, changes: audit.changes }
}
