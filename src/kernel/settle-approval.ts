import type { Approval } from '../core/approval/approval.ts'
import { type AnswerDecision, expired } from '../core/approval/decide-answer.ts'
import { changedFields } from '../core/approval/edit.ts'
import type { AuditDecision } from '../core/audit/entry.ts'
import type { Change } from '../core/change.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { ApprovalSettled } from '../core/process/event.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { rememberAnswer } from './remember-answer.ts'
import { stopReview } from './review.ts'
import { giveBackUses, type Uses } from './rule-uses.ts'
import { WorkingRows } from './working-rows.ts'

export type ApprovalSettlement =
  /** This answer settled it. `row`: the process, which begins or has ended. */
  | { readonly type: 'settled'; readonly approval: Approval; readonly row: ProcessRow }
  /** It was settled before, and the answer changed nothing. `row`: of a process that has ended just now, because the answer came too late. */
  | { readonly type: 'settled_before'; readonly approval: Approval; readonly row?: ProcessRow }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** A settlement in a plan, with its changes. */
export type Settling = { readonly answer: ApprovalSettlement; readonly changes: readonly Change[] }

/** Writes a decided answer: the approval, its process, the rules that the answer stores, and the audit. */
export function* settle(
  edges: Edges,
  rows: WorkingRows,
  kernelId: string,
  was: Approval,
  decision: Exclude<AnswerDecision, { type: 'too_late' }>,
  at: number,
  uses?: Uses,
): PlanPart<Settling> {
  if (decision.type === 'settled_before') return { answer: decision, changes: [] }
  if (decision.type === 'refuse') return refusedWith(decision.refusal)
  const { settled, value } = decision
  const approval = withUses(decision.approval, uses)
  rows.add([{ type: 'approval', was, approval }])
  const { pid } = was
  const { by } = settled
  // The right to answer was checked before. A session that may answer owns nothing of the process.
  const actor: Actor = by === 'host' || by.startsWith('human:') ? by : `kernel:${kernelId}`
  const before = yield* rows.process(pid)
  const done = yield* performOne(edges, rows, { type: 'settle_approval', pid, actor, at, settled, value })
  if (done.type === 'refused') return { answer: done, changes: [] }
  yield* stopReview(edges, rows, performOne, was, at)
  rows.add([auditOf(approval, settled, at, before?.record.spec ?? null)])
  if (settled.how === 'approved') {
    const full = yield* rememberAnswer(rows, approval, at)
    if (full !== undefined) return refusedWith(full)
  } else yield* giveBackUses(rows, was)
  return { answer: { type: 'settled', approval, row: done.row }, changes: rows.changes }
}

/** What an answered request has used: if its action is asked about again, a denial gives this back. */
function withUses(approval: Approval, uses: Uses | undefined): Approval {
  const { request } = approval
  if (uses === undefined || request.type !== 'permission') return approval
  return { ...approval, request: { ...request, uses } }
}

export function refusedWith(refused: Refusal): Settling {
  return { answer: { type: 'refused', refusal: refused }, changes: [] }
}

/** Ends a process whose answer came too late, and answers with the record as it is now. */
export function* expire(
  edges: Edges,
  rows: WorkingRows,
  kernelId: string,
  was: Approval,
  at: number,
): PlanPart<Settling> {
  const { answer, changes } = yield* settle(
    edges,
    rows,
    kernelId,
    was,
    expired(was, `kernel:${kernelId}`),
    at,
  )
  return { answer: answer.type === 'settled' ? { ...answer, type: 'settled_before' } : answer, changes }
}

/** Ends the processes whose approval has expired, at most `limit` of them. */
export async function expireApprovals(
  edges: Edges,
  kernelId: string,
  limit: number,
): Promise<readonly ApprovalSettlement[]> {
  const at = edges.clock.now()
  const due = await edges.store.ask({ ask: 'approvalsDue', at, limit })
  const settled: ApprovalSettlement[] = []
  for (const { id } of due) {
    const one = await edges.store.write<ApprovalSettlement>(function* () {
      const rows = new WorkingRows()
      const was = yield* know({ ask: 'approval', id })
      if (was === null) return refusedWith(unknownApproval(id))
      return yield* settle(edges, rows, kernelId, was, expired(was, `kernel:${kernelId}`), at)
    })
    settled.push(one)
  }
  return settled
}

export function unknownApproval(id: string): Refusal {
  return refusal(
    'approval_unknown',
    `There is no approval ${id}.`,
    'List the approvals to see which there are.',
    {
      approval: id,
    },
  )
}

const DECISIONS = {
  approved: 'approved',
  answered: 'approved',
  denied: 'refused',
  expired: 'expired',
} as const satisfies { readonly [how: string]: AuditDecision }

function auditOf(
  { id, pid, request, answer }: Approval,
  { how, by }: ApprovalSettled,
  at: number,
  spec: JsonObject | null,
): Change {
  const edited = answer?.type === 'approved' ? answer.spec : null
  return {
    type: 'audit',
    about: [spec, edited].filter((one) => one !== null),
    entry: {
      at,
      actor: by,
      action: 'answer',
      target: `process:${pid}`,
      decision: DECISIONS[how],
      rule:
        (answer?.type === 'approved' ? answer.rule : null) ??
        (request.type === 'permission' ? request.rule : null),
      reason: answer?.type === 'denied' ? answer.advice : null,
      inputs: {
        approval: id,
        asker: request.subject,
        ...(answer?.type === 'approved' ? { grant: answer.grant } : {}),
        ...(edited === null || spec === null ? {} : { changed: changedFields(spec, edited) }),
      },
      trace: null,
    },
  }
}
