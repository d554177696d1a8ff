import type { Approval } from '../core/approval/approval.ts'
import { filesText, type ResolvedAction } from '../core/capability/action.ts'
import type { RuleRef, Ruling } from '../core/capability/ruling.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { askInstead } from './ask-instead.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import { withoutPolicy } from './gate.ts'
import { permissionApproval } from './permission-approval.ts'
import type { PlanPart } from './plan-part.ts'
import { approvalIdOf, gatedActor, type HostFacts } from './register-one.ts'
import {
  type GatedRegistration,
  missingPlace,
  type Ruled,
  ruleOnRegistration,
} from './rule-on-registration.ts'
import { giveBack } from './rule-uses.ts'
import { WorkingRows } from './working-rows.ts'

const CHANGED = 'A program of it, or its folder, has changed since a rule allowed it.'

/**
 * Compares the files of a command that rules let begin with those that they ruled on. If another file would run, the rules are asked
 * again, and a person decides, unless no rule is about it. Returns whether it may begin.
 */
export async function confirmFiles(
  edges: Edges,
  work: Work,
  resolved: ResolvedAction,
  here: string | null,
): Promise<boolean> {
  const { record } = work
  const { ruledOn } = record
  if (ruledOn === undefined || edges.hash(filesText(resolved)) === ruledOn.hash) return true
  const at = edges.clock.now()
  return askInstead(edges, work, at, function* (host) {
    const rows = new WorkingRows()
    const gated = yield* registrationOf(rows, record, resolved, { ...host, here, at })
    // Only to rule: what it has taken stays taken.
    yield* giveBack(rows, ruledOn.uses ?? [])
    const answer = yield* ruleOnRegistration(edges, rows, gated)
    const missing = missingPlace(answer)
    if (missing !== undefined) return missing
    if (answer.type === 'invalid') return yield* withoutPolicy(edges, gated, answer.subject, answer.file)
    // The rules have been removed meanwhile, or none of them is about the other file.
    if (answer.type !== 'ruled') return null
    const { ruling } = answer.ruled
    if (ruling.type === 'allow' && ruling.rule === null) return null
    const approval = yield* requestFor(edges, rows, gated, answer.ruled, ruledOn.uses ?? [])
    const { request, id, pid } = approval
    const entry = {
      at,
      actor: request.subject,
      action: 'ask_again',
      target: `process:${pid}`,
      decision: 'asked',
      rule: ruling.rule,
      reason: CHANGED,
      inputs: { approval: id },
      trace: null,
    } as const
    return { approval, entry }
  })
}

/** The registration of a process, as the gate sees it. */
function* registrationOf(
  rows: WorkingRows,
  record: ProcessRecord,
  resolved: ResolvedAction,
  {
    here,
    at,
    places,
    looksLeft,
  }: Pick<HostFacts, 'places' | 'looksLeft'> & { readonly here: string | null; readonly at: number },
): PlanPart<GatedRegistration> {
  const { identity, originator, parent, pid, envRef } = record
  const above = parent === null ? null : yield* rows.process(parent)
  return {
    registration: { ...record, ...identity },
    actor: gatedActor(record, above, originator),
    at,
    here: here === null ? [] : [`host:${here}`],
    resolved,
    envRef: envRef ?? undefined,
    isEnvironmentNamed: true,
    session: null,
    places,
    looksLeft,
    approvalId: approvalIdOf(pid),
    reason: null,
    trace: null,
    change: null,
  }
}

/** A yes counts once: what has changed is for a person to judge, and no rule or reviewer does that for later times. */
function* requestFor(
  edges: Edges,
  rows: WorkingRows,
  gated: GatedRegistration,
  ruled: Ruled,
  uses: readonly Pick<RuleRef, 'subject' | 'id'>[],
): PlanPart<Approval> {
  const approval = yield* permissionApproval(edges, rows, gated, ruled, askOf(ruled))
  const { request } = approval
  const { actionHash } = request
  return {
    ...approval,
    pushAt: gated.at,
    request: {
      ...request,
      grants: ['once'],
      grantRules: { process: [], session: [] },
      alwaysRule: null,
      repeatHash: actionHash,
      uses,
    },
  }
}

function askOf({ ruling, subject }: Ruled): Extract<Ruling, { type: 'ask' }> {
  const asks = ruling.type === 'ask' ? ruling : null
  // A closed set denies what none of its rules is about: the reason stands for the rule.
  const reason = ruling.type === 'deny' ? ruling.reason : CHANGED
  return {
    type: 'ask',
    rule: ruling.rule ?? { subject: subject.actor, id: '', text: reason },
    reviewer: null,
    justification: asks?.justification ?? CHANGED,
    answerWithinMs: asks?.answerWithinMs ?? null,
    uses: [],
  }
}
