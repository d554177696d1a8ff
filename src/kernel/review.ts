import type { Approval } from '../core/approval/approval.ts'
import { decideAnswer, expired } from '../core/approval/decide-answer.ts'
import {
  handedOver,
  isInReview,
  reviewedBy,
  reviewerOf,
  reviewKeyOf,
  reviewProcess,
  verdictOf,
} from '../core/approval/review.ts'
import type { AuditDecision } from '../core/audit/entry.ts'
import type { Change } from '../core/change.ts'
import { isDead, isServed } from '../core/lease/holder.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { RegisterIntent } from '../core/process/register.ts'
import { registrationText } from '../core/process/registration-request.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Performed } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { ruleOnRequest } from './rule-on-request.ts'
import { giveBackUses, reserveUses } from './rule-uses.ts'
import { WorkingRows } from './working-rows.ts'

/** Passed in: the end of a review is settled in the transaction that writes the end. */
export type PerformOne = (edges: Edges, rows: WorkingRows, intent: Intent) => PlanPart<Performed>

/** The actor that registers and stops reviews. No rule binds a kernel, so the start of a review is not reviewed again. */
const REVIEWS: Actor = 'kernel:reviews'

/** The registration of the process that reviews a request; null if there is none, and a person has to decide. */
export function* reviewIntent(
  edges: Edges,
  approval: Approval,
  at: number,
  defaultEnvRef: string,
): PlanPart<RegisterIntent | null> {
  const request = reviewProcess(approval)
  if (request === null || approval.request.reviewer === null) return null
  const { kind, name } = reviewerOf(approval.request.reviewer)
  const holders = yield* know({ ask: 'holders' })
  const isAvailable = holders.some(
    (holder) => isServed(holder.serves, kind, name) && !isDead(holder, edges.prove(holder)),
  )
  if (!isAvailable) return null
  const text = registrationText(request)
  return {
    pid: reviewPid(edges, approval),
    bytes: text.length,
    hash: edges.hash(text),
    request,
    actor: REVIEWS,
    at,
    defaultEnvRef,
    here: [],
    startBy: null,
    refuseNew: null,
    fence: null,
    stepIndex: null,
    approval: null,
    acceptsLess: false,
  }
}

function reviewPid(edges: Edges, { id }: Approval): Pid {
  return edges.pidOf(reviewKeyOf(id))
}

/** In the transaction of the asking registration: without a reviewer a person decides. */
export function handOverChanges(
  approval: Approval,
  at: number,
  reason: string,
  by: Actor = REVIEWS,
): Change[] {
  return [
    { type: 'approval', was: approval, approval: handedOver(approval, at) },
    auditOf(approval, { at, by, decision: 'asked', reason }),
  ]
}

/** In the transaction of a review's end: its verdict settles the request, or a person is asked. */
export function* settleReview(
  edges: Edges,
  rows: WorkingRows,
  performOne: PerformOne,
  review: ProcessRecord,
  at: number,
): PlanPart<void> {
  const id = reviewedBy(review)
  if (id === null || review.outcome === null) return
  const was = yield* currentApproval(rows, id)
  // Answered meanwhile; and a process of another pid has no part in it.
  if (was === null || !isInReview(was) || reviewPid(edges, was) !== review.pid) return
  const by: Actor = `process:${review.pid}`
  const verdict = verdictOf(review.outcome)
  if (verdict.type === 'hand_over') {
    rows.add(handOverChanges(was, at, verdict.reason, by))
    return
  }
  const answer =
    verdict.type === 'approve'
      ? ({ type: 'approve', grant: 'once' } as const)
      : { type: 'deny' as const, ...(verdict.advice === null ? {} : { advice: verdict.advice }) }
  const asking = yield* rows.process(was.pid)
  if (asking === null || !awaitsApproval(asking.record) || asking.record.gate?.approval !== id) return
  const decided = decideAnswer(was, answer, by, at)
  // An answer that comes too late decides nothing: the kernel ends the process.
  const decision = decided.type === 'too_late' ? expired(was, REVIEWS) : decided
  if (decision.type !== 'settle') {
    rows.add(handOverChanges(was, at, 'its answer was refused', by))
    return
  }
  const request =
    decision.settled.how === 'approved' ? yield* ruledYes(rows, was, asking.record, at) : was.request
  if (request === null) {
    rows.add(handOverChanges(was, at, 'the rules have changed since it was asked', by))
    return
  }
  const { settled, value } = decision
  rows.add([{ type: 'approval', was, approval: { ...decision.approval, request } }])
  const intent = { type: 'settle_approval', pid: was.pid, actor: REVIEWS, at, settled, value } as const
  yield* performOne(edges, rows, intent)
  if (settled.how !== 'approved') yield* giveBackUses(rows, was)
  rows.add([auditOf(was, { at, by: settled.by, decision: DECISIONS[settled.how], reason: verdict.advice })])
}

/**
 * The request with the uses that a yes reserves now; null if the rules of now deny it, or ask another reviewer or a person. A person
 * answers it then, and it keeps the uses that it has.
 */
function* ruledYes(
  rows: WorkingRows,
  approval: Approval,
  record: ProcessRecord,
  at: number,
): PlanPart<Approval['request'] | null> {
  const { request } = approval
  if (request.type !== 'permission') return request
  yield* giveBackUses(rows, approval)
  const ruling = yield* ruleOnRequest(rows, request, record, at)
  if (ruling.type === 'deny' || (ruling.type === 'ask' && ruling.reviewer !== request.reviewer)) {
    yield* reserveUses(rows, request.uses)
    return null
  }
  const uses = ruling.uses.map(({ subject, id }) => ({ subject, id }))
  yield* reserveUses(rows, uses)
  return { ...request, uses }
}

const DECISIONS = {
  approved: 'approved',
  answered: 'approved',
  denied: 'refused',
  expired: 'expired',
} as const satisfies { readonly [how: string]: AuditDecision }

/** In the transaction that settles a request otherwise: its reviewer has nothing left to decide. */
export function* stopReview(
  edges: Edges,
  rows: WorkingRows,
  performOne: PerformOne,
  approval: Approval,
  at: number,
): PlanPart<void> {
  if (approval.request.reviewer === null) return
  const pid = reviewPid(edges, approval)
  const row = yield* rows.process(pid)
  if (row === null || hasEnded(row.record) || reviewedBy(row.record) !== approval.id) return
  yield* performOne(edges, rows, {
    type: 'stop',
    pid,
    actor: REVIEWS,
    at,
    how: 'cancel',
    reason: `the approval ${approval.id} was settled without it`,
    cause: null,
    replayKey: `review:${approval.id}`,
  })
}

/** Hands requests whose reviewer takes too long to people. */
export async function handOverLateReviews(
  edges: Edges,
  performOne: PerformOne,
  limit: number,
): Promise<void> {
  const at = edges.clock.now()
  for (const { id } of await edges.store.ask({ ask: 'approvalsDue', by: 'reviewUntil', at, limit }))
    await edges.store.write(function* () {
      const rows = new WorkingRows()
      const was = yield* know({ ask: 'approval', id })
      if (was === null || !isInReview(was)) return { answer: undefined, changes: [] }
      rows.add(handOverChanges(was, at, 'the reviewer took too long'))
      yield* stopReview(edges, rows, performOne, was, at)
      return { answer: undefined, changes: rows.changes }
    })
}

/** As the plan has changed it so far. */
function* currentApproval(rows: WorkingRows, id: string): PlanPart<Approval | null> {
  for (const change of rows.changes.toReversed())
    if (change.type === 'approval' && change.approval.id === id) return change.approval
  return yield* know({ ask: 'approval', id })
}

function auditOf(
  { id, pid, request }: Approval,
  done: {
    readonly at: number
    readonly by: Actor
    readonly decision: AuditDecision
    readonly reason: string | null
  },
): Change {
  return {
    type: 'audit',
    entry: {
      at: done.at,
      actor: done.by,
      action: 'review',
      target: `process:${pid}`,
      decision: done.decision,
      rule: request.type === 'permission' ? request.rule : null,
      reason: done.reason,
      inputs: { approval: id, asker: request.subject, reviewer: request.reviewer },
      trace: null,
    },
  }
}
