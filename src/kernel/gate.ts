import type { Approval, ApprovalGrant, ApprovalRequest } from '../core/approval/approval.ts'
import type { AuditDecision, AuditEntry } from '../core/audit/entry.ts'
import { type Action, actionOf, actionText, type ResolvedAction } from '../core/capability/action.ts'
import { ceilingsOver } from '../core/capability/ceiling.ts'
import { type Need, needText } from '../core/capability/need.ts'
import { needsAnalysis, needsOf, secretsGivenTo } from '../core/capability/needs.ts'
import { ruleOnAll } from '../core/capability/rule-on.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import { type RuleRef, type Ruling, useIdOf } from '../core/capability/ruling.ts'
import type { Change } from '../core/change.ts'
import { asJson } from '../core/json/json.ts'
import type { Placement } from '../core/placement/placement.ts'
import type { ApprovalRequested } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Registration } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import { PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { lineageOf, ruleSetsOf, rulingFacts, type Subject, subjectOf } from './rule-facts.ts'
import type { WorkingRows } from './working-rows.ts'

export interface GatedRegistration {
  readonly registration: Registration
  readonly actor: Actor
  readonly at: number
  readonly here: readonly Placement[]
  /** Null until the host has resolved it. */
  readonly resolved: ResolvedAction | null
  /** The environment that it runs in, if it is not the default one. */
  readonly envRef: string | undefined
  /** The request names the environment; that of its client is not its own choice. */
  readonly isEnvironmentNamed: boolean
  /** The id of the approval, if one is needed. */
  readonly approvalId: string
  /** Why the asker wants it, in its own words. */
  readonly reason: string | null
  readonly trace: string | null
}

/** What the rules say about a registration. `changes` belong to the transaction, also to that of a refusal. */
export type GateAnswer =
  | { readonly type: 'open'; readonly changes: readonly Change[] }
  /** The rules tell commands apart: the host has to resolve this one first. */
  | { readonly type: 'unresolved' }
  | { readonly type: 'ask'; readonly approval: ApprovalRequested; readonly changes: readonly Change[] }
  | { readonly type: 'denied'; readonly refusal: Refusal; readonly changes: readonly Change[] }

const OPEN: GateAnswer = { type: 'open', changes: [] }

/** Of the effects that the entry of a denial names as its target. */
const MAX_TARGET_CHARS = 500

/** How long an approval waits before surfaces push it to people: most are answered by a person who looks already. */
export const PUSH_AFTER_MS = 2_000

/**
 * The gate of every registration: rules on its effects, with the facts of the transaction that registers it. Without rules that
 * bind the actor it is open, and costs no query.
 */
export function* gateOf(edges: Edges, rows: WorkingRows, gated: GatedRegistration): PlanPart<GateAnswer> {
  const { registration, actor, at, here, resolved } = gated
  if (registration.kind === 'external') return OPEN
  const subject = yield* subjectOf(rows, actor, null)
  if (subject === null) return OPEN
  const sets = yield* ruleSetsOf(subject)
  const ceilings = ceilingsOver(registration.pid, registration.ceilings ?? [])
  if (sets.length === 0 && ceilings.length === 0) return OPEN
  if (registration.kind === 'command' && resolved === null && needsAnalysis([...sets, ...ceilings]))
    return { type: 'unresolved' }
  const host = hostOf(here)
  const action = actionOf(registration, subject.actor, host, resolved)
  if (action === null) return OPEN
  const environment =
    gated.envRef === undefined ? null : yield* know({ ask: 'environment', ref: gated.envRef })
  const ofEnvironment = gated.isEnvironmentNamed ? resolved?.ofEnvironment : undefined
  const needs = needsOf(registration, {
    shell: resolved?.shell ?? null,
    programs: new Map(
      (resolved?.programs ?? []).flatMap(({ name, real }) => (real === null ? [] : [[name, { real }]])),
    ),
    cwd: action.cwd,
    workspace: null,
    env: [...(resolved?.env ?? []), ...(ofEnvironment?.env ?? [])],
    codeVariables: [...(resolved?.codeVariables ?? []), ...(ofEnvironment?.codeVariables ?? [])],
    secrets: secretsGivenTo(registration, environment),
  })
  const facts = yield* rulingFacts(rows, sets, ceilings, needs, { at, host })
  const ruling = ruleOnAll(sets, ceilings, needs, facts)
  const used =
    ruling.type === 'deny' ? [] : ruling.uses.map((ref) => useOnce(ref, facts.uses.get(useIdOf(ref)) ?? null))
  const ruled = { subject, sets, action, needs, ruling, used }
  if (ruling.type !== 'deny') {
    const { parent } = registration
    const ancestors = ruling.type === 'allow' || parent === null ? [] : yield* lineageOf(rows, parent)
    return answerOf(edges, gated, { ...ruled, ancestors: ancestors.map(({ record }) => record.pid) }, ruling)
  }
  // A looping agent repeats its denied requests: equal ones are counted, and the audit does not grow.
  const audit = new PlannedAudit(edges)
  const target = needs.map(needText).join('; ').slice(0, MAX_TARGET_CHARS)
  yield* audit.deny({ ...entryOf(gated, ruled, 'denied', ruling.rule, ruling.reason), target })
  return { type: 'denied', refusal: denied(ruled, ruling), changes: audit.changes }
}

interface Ruled {
  readonly subject: Subject
  readonly sets: readonly RuleSet[]
  readonly action: Action
  readonly needs: readonly Need[]
  readonly ruling: Ruling
  readonly used: readonly Change[]
}

/** With the processes above the one that is registered, the nearest first. */
interface AskingRuled extends Ruled {
  readonly ancestors: readonly Pid[]
}

function answerOf(
  edges: Edges,
  gated: GatedRegistration,
  ruled: AskingRuled,
  ruling: Exclude<Ruling, { type: 'deny' }>,
): GateAnswer {
  const { used } = ruled
  if (ruling.type === 'allow') {
    if (ruling.rule === null) return OPEN
    const entry = entryOf(gated, ruled, 'allowed', ruling.rule, null)
    return { type: 'open', changes: [...used, { type: 'audit', entry }] }
  }
  const actionHash = edges.hash(actionText(ruled.action))
  const approval = approvalOf(gated, ruled, ruling, actionHash)
  const entry = entryOf(gated, ruled, 'asked', ruling.rule, ruling.justification)
  return {
    type: 'ask',
    approval: { approval: approval.id, actionHash, expiresAt: approval.expiresAt },
    changes: [...used, { type: 'approval', was: null, approval }, { type: 'audit', entry }],
  }
}

function approvalOf(
  { registration, at, approvalId, reason }: GatedRegistration,
  { subject, action, needs, ancestors }: AskingRuled,
  ruling: Extract<Ruling, { type: 'ask' }>,
  actionHash: string,
): Approval {
  const grants: readonly ApprovalGrant[] = ['once']
  const request: ApprovalRequest = {
    type: 'permission',
    subject: subject.actor,
    session: registration.owner.session ?? null,
    ancestors,
    reviewer: ruling.reviewer,
    priority: 0,
    reason,
    action,
    actionHash,
    needs: needs.map(needText),
    rule: ruling.rule,
    justification: ruling.justification,
    defaultToNo: false,
    grants,
    alwaysRule: null,
  }
  return {
    id: approvalId,
    pid: registration.pid,
    state: 'pending',
    askedAt: at,
    person: null,
    expiresAt: null,
    pushAt: at + PUSH_AFTER_MS,
    request,
    answer: null,
  }
}

function useOnce({ subject, id }: RuleRef, was: { readonly used: number } | null): Change {
  const useId = useIdOf({ subject, id })
  const before = was === null ? null : { id: useId, subject, used: was.used }
  return { type: 'rule_use', was: before, use: { id: useId, subject, used: (was?.used ?? 0) + 1 } }
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
    inputs: { needs: needs.map(needText), act: asJson(action.act), cwd: action.cwd },
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

function hostOf(here: readonly Placement[]): string | null {
  const host = here.find((placement) => placement.startsWith('host:'))
  return host === undefined ? null : host.slice('host:'.length)
}
