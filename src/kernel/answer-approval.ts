import type { Approval } from '../core/approval/approval.ts'
import { type Answer, type AnswerDecision, decideAnswer, expired } from '../core/approval/decide-answer.ts'
import { type AnswererFacts, refuseAnswerer } from '../core/approval/may-answer.ts'
import type { AuditDecision } from '../core/audit/entry.ts'
import type { Need } from '../core/capability/need.ts'
import { ruleOnAll } from '../core/capability/rule-on.ts'
import type { Change } from '../core/change.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { lineageOf, ruleSetsOf, rulingFacts, subjectOf } from './rule-facts.ts'
import { WorkingRows } from './working-rows.ts'

export type ApprovalSettlement =
  /** This answer settled it. `row`: the process, which begins or has ended. */
  | { readonly type: 'settled'; readonly approval: Approval; readonly row: ProcessRow }
  /** It was settled before, and the answer changed nothing. */
  | { readonly type: 'settled_before'; readonly approval: Approval }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** Answers an approval: its row, the process and the audit change in one transaction. The first answer wins. */
export function answerApproval(
  edges: Edges,
  kernelId: string,
  asked: { readonly id: string; readonly by: Actor; readonly answer: Answer },
): Promise<ApprovalSettlement> {
  const { id, by, answer } = asked
  const at = edges.clock.now()
  return edges.store.write(function* () {
    const rows = new WorkingRows()
    const was = yield* know({ ask: 'approval', id })
    if (was === null) return { answer: { type: 'refused', refusal: unknownApproval(id) }, changes: [] }
    const facts = yield* answererFacts(rows, was, by, at)
    const denied = refuseAnswerer(was, by, facts)
    if (denied !== undefined) return { answer: { type: 'refused', refusal: denied }, changes: [] }
    return yield* settle(edges, rows, kernelId, was, decideAnswer(was, answer, by, at), at)
  })
}

/** Ends the processes whose approval has expired, and answers how many there were. */
export async function expireApprovals(edges: Edges, kernelId: string, limit: number): Promise<number> {
  const at = edges.clock.now()
  const due = await edges.store.ask({ ask: 'approvalsDue', at, limit })
  for (const { id } of due) {
    await edges.store.write<ApprovalSettlement>(function* () {
      const rows = new WorkingRows()
      const was = yield* know({ ask: 'approval', id })
      if (was === null) return { answer: { type: 'refused', refusal: unknownApproval(id) }, changes: [] }
      return yield* settle(edges, rows, kernelId, was, expired(was, `kernel:${kernelId}`), at)
    })
  }
  return due.length
}

function* settle(
  edges: Edges,
  rows: WorkingRows,
  kernelId: string,
  was: Approval,
  decision: AnswerDecision,
  at: number,
): PlanPart<{ readonly answer: ApprovalSettlement; readonly changes: readonly Change[] }> {
  if (decision.type === 'settled_before') return { answer: decision, changes: [] }
  if (decision.type === 'refuse')
    return { answer: { type: 'refused', refusal: decision.refusal }, changes: [] }
  const { approval, settled, value } = decision
  rows.add([{ type: 'approval', was, approval }])
  const { pid } = was
  const { by } = settled
  // The right to answer was checked before. A session that may answer owns nothing of the process.
  const actor: Actor = by === 'host' || by.startsWith('human:') ? by : `kernel:${kernelId}`
  const done = yield* performOne(edges, rows, { type: 'settle_approval', pid, actor, at, settled, value })
  if (done.type === 'refused') return { answer: done, changes: [] }
  rows.add([auditOf(approval, settled.how, by, at)])
  return { answer: { type: 'settled', approval, row: done.row }, changes: rows.changes }
}

const DECISIONS = {
  approved: 'approved',
  answered: 'approved',
  denied: 'refused',
  expired: 'expired',
} as const satisfies { readonly [how: string]: AuditDecision }

function auditOf(
  { id, pid, request, answer }: Approval,
  how: keyof typeof DECISIONS,
  by: Actor,
  at: number,
): Change {
  return {
    type: 'audit',
    entry: {
      at,
      actor: by,
      action: 'answer',
      target: `process:${pid}`,
      decision: DECISIONS[how],
      rule: request.type === 'permission' ? request.rule : null,
      reason: answer?.type === 'denied' ? answer.advice : null,
      inputs: {
        approval: id,
        asker: request.subject,
        ...(answer?.type === 'approved' ? { grant: answer.grant, spec: answer.spec } : {}),
      },
      trace: null,
    },
  }
}

function* answererFacts(
  rows: WorkingRows,
  { pid, request }: Approval,
  by: Actor,
  at: number,
): PlanPart<AnswererFacts> {
  const subject = yield* subjectOf(rows, by, null)
  if (subject === null) return { sessions: [], ancestors: [], askingSessions: [], mayApprove: false }
  const lineage = by.startsWith('process:') ? yield* lineageOf(rows, by.slice('process:'.length)) : []
  const session = by.startsWith('session:') ? by.slice('session:'.length) : lineage[0]?.record.owner.session
  const need: Need = {
    right: 'approve',
    resource:
      request.session === null
        ? { kind: 'process', pid, ancestors: request.ancestors }
        : { kind: 'session', path: request.session },
    attributes: {},
  }
  const sets = yield* ruleSetsOf(subject)
  const ruling = ruleOnAll(sets, [], [need], yield* rulingFacts(rows, sets, [], [need], { at, host: null }))
  return {
    sessions: session === undefined ? [] : [session],
    ancestors: lineage.slice(1).map(({ record }) => record.pid),
    askingSessions: [],
    // Without a rule that says so, no session may approve anything.
    mayApprove: ruling.type === 'allow' && ruling.rule !== null,
  }
}

function unknownApproval(id: string): Refusal {
  return refusal(
    'approval_unknown',
    `There is no approval ${id}.`,
    'List the approvals to see which there are.',
    {
      approval: id,
    },
  )
}
