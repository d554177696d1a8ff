import { type AskerFacts, refuseThroughClient } from '../core/approval/answer-through-client.ts'
import { type Approval, isPending } from '../core/approval/approval.ts'
import {
  type Answer,
  type AnswerDecision,
  decideAnswer,
  expired,
  isOver,
  refuseReach,
  settledByRule,
} from '../core/approval/decide-answer.ts'
import { changedFields } from '../core/approval/edit.ts'
import { type AnswererFacts, refuseAnswerer } from '../core/approval/may-answer.ts'
import type { RuleLevel } from '../core/approval/rule-level.ts'
import type { AuditDecision } from '../core/audit/entry.ts'
import type { AgentClient } from '../core/authority/person.ts'
import type { Need } from '../core/capability/need.ts'
import { ruleOnAll } from '../core/capability/rule-on.ts'
import type { Change } from '../core/change.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { ApprovalSettled } from '../core/process/event.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import { placedAnswer, storedAnswer } from './answer-level.ts'
import { deniedAnswerEntry } from './approval-entries.ts'
import { PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import { performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { rememberAnswer } from './remember-answer.ts'
import { stopReview } from './review.ts'
import { lineageOf, ruleSetsOf, rulingFacts, sessionsOfActor, subjectOf } from './rule-facts.ts'
import { giveBackUses, type Uses } from './rule-uses.ts'
import { type Edit, type RefusedYes, ruledAnswer } from './ruled-answer.ts'
import { WorkingRows } from './working-rows.ts'

export type ApprovalSettlement =
  /** This answer settled it. `row`: the process, which begins or has ended. */
  | { readonly type: 'settled'; readonly approval: Approval; readonly row: ProcessRow }
  /** It was settled before, and the answer changed nothing. `row`: of a process that has ended just now, because the answer came too late. */
  | { readonly type: 'settled_before'; readonly approval: Approval; readonly row?: ProcessRow }
  | { readonly type: 'refused'; readonly refusal: Refusal }

export interface Answering {
  readonly id: string
  readonly by: Actor
  readonly answer: Answer
  /** With `always`: where the rule is stored; in the home by default. */
  readonly level?: RuleLevel
  /** With a yes: what runs instead. */
  readonly edit?: Edit
  /** The client of an agent that passes the answer on. */
  readonly through?: AgentClient | undefined
}

/** Answers an approval: its row, the process, the rules that the answer stores and the audit change in one transaction. The first answer wins. */
export function answerApproval(
  edges: Edges,
  kernelId: string,
  asked: Answering,
): Promise<ApprovalSettlement> {
  const { id, by } = asked
  const isEdited = asked.edit !== undefined
  const at = edges.clock.now()
  return edges.store.write(function* () {
    const rows = new WorkingRows()
    const was = yield* know({ ask: 'approval', id })
    if (was === null) return refusedWith(unknownApproval(id))
    const early = yield* refusedOrLate(edges, rows, kernelId, was, { ...asked, isEdited }, at)
    if (early !== undefined) return early
    const placed = yield* placedAnswer(edges, rows, was, asked)
    if (isRefusal(placed)) return refusedWith(placed)
    const answer = yield* ruledAnswer(edges, rows, was, { ...asked, answer: placed }, at)
    if ('refusal' in answer) return yield* deniedWith(edges, was, asked, at, answer)
    const decision = decideAnswer(was, answer.answer, by, at)
    if (decision.type === 'too_late') return yield* expire(edges, rows, kernelId, was, at)
    return yield* settle(edges, rows, kernelId, was, decision, at, answer.uses)
  })
}

/**
 * Settles an edit that need not be looked at: its actor may not answer, or it comes too late. Undefined: the edit counts. An actor
 * without the right to answer learns nothing by its edit, and causes no work.
 */
export function refuseEarly(
  edges: Edges,
  kernelId: string,
  asked: Omit<Answering, 'edit'>,
): Promise<ApprovalSettlement | undefined> {
  const at = edges.clock.now()
  return edges.store.write<ApprovalSettlement | undefined>(function* () {
    const was = yield* know({ ask: 'approval', id: asked.id })
    if (was === null) return refusedWith(unknownApproval(asked.id))
    const given = { ...asked, isEdited: true }
    const early = yield* refusedOrLate(edges, new WorkingRows(), kernelId, was, given, at)
    return early ?? { answer: undefined, changes: [] }
  })
}

/** What is decided before anything of an answer is looked at; undefined if that decides nothing. */
function* refusedOrLate(
  edges: Edges,
  rows: WorkingRows,
  kernelId: string,
  was: Approval,
  asked: Omit<Answering, 'edit'> & { readonly isEdited: boolean },
  at: number,
): PlanPart<Settling | undefined> {
  const { by } = asked
  const facts = yield* answererFacts(rows, was, by, at)
  const asker = yield* askerFacts(rows, was, facts, asked)
  const denied =
    refuseAnswerer(was, by, facts) ??
    refuseReach(was, asked, by) ??
    (asker === null ? undefined : refuseThroughClient(was, asked, ...asker))
  if (denied !== undefined) return yield* deniedWith(edges, was, asked, at, { refusal: denied, rule: null })
  if (!isPending(was)) return { answer: { type: 'settled_before', approval: was }, changes: [] }
  return isOver(was, at) ? yield* expire(edges, rows, kernelId, was, at) : undefined
}

/** Answers a pending approval by a rule that a person stored for every time; undefined if none covers it any more. */
export function answerByRule(
  edges: Edges,
  kernelId: string,
  id: string,
): Promise<ApprovalSettlement | undefined> {
  const at = edges.clock.now()
  return edges.store.write<ApprovalSettlement | undefined>(function* () {
    const rows = new WorkingRows()
    const was = yield* know({ ask: 'approval', id })
    const rule = was === null ? undefined : yield* storedAnswer(was, at)
    if (was === null || rule === undefined) return { answer: undefined, changes: [] }
    const ruled = yield* ruledAnswer(edges, rows, was, { answer: { type: 'approve', grant: 'once' } }, at)
    // A rule that was added since denies it, or asks as well.
    if ('refusal' in ruled || (ruled.ruling !== undefined && ruled.ruling.type !== 'allow'))
      return { answer: undefined, changes: [] }
    const decision = settledByRule(was, rule, `kernel:${kernelId}`, at)
    if (decision.type === 'too_late') return yield* expire(edges, rows, kernelId, was, at)
    return yield* settle(edges, rows, kernelId, was, decision, at, ruled.uses)
  })
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

/** Ends a process whose answer came too late, and answers with what is recorded now. */
function* expire(
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

type Settling = { readonly answer: ApprovalSettlement; readonly changes: readonly Change[] }

function* settle(
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

function refusedWith(refused: Refusal): Settling {
  return { answer: { type: 'refused', refusal: refused }, changes: [] }
}

/** The refusal, with its entry if it is a denial. Equal ones are counted: an agent may repeat its answer without an end. */
function* deniedWith(
  edges: Edges,
  was: Approval,
  { by, answer: { type: answer } }: Pick<Answering, 'by' | 'answer'>,
  at: number,
  { refusal, rule }: RefusedYes,
): PlanPart<Settling> {
  const audit = new PlannedAudit(edges)
  if (refusal.code === 'denied') yield* audit.deny(deniedAnswerEntry(was, { at, by, answer, refusal, rule }))
  return { answer: { type: 'refused', refusal }, changes: audit.changes }
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

function* answererFacts(
  rows: WorkingRows,
  { pid, request }: Approval,
  by: Actor,
  at: number,
): PlanPart<AnswererFacts> {
  const subject = yield* subjectOf(rows, by)
  const asking = yield* rows.process(pid)
  const askingSessions = asking?.record.sessionsAbove ?? []
  if (subject === null) return { sessions: [], ancestors: [], askingSessions, mayApprove: false }
  const lineage = by.startsWith('process:') ? yield* lineageOf(rows, by.slice('process:'.length)) : []
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
    sessions: yield* sessionsOfActor(rows, by),
    ancestors: lineage.slice(1).map(({ record }) => record.pid),
    askingSessions,
    // Without a rule that says so, no session may approve anything.
    mayApprove: ruling.type === 'allow' && ruling.rule !== null,
  }
}

/** The client that passes the answer on, and facts about the asker; null if the answer comes from the person directly. */
function* askerFacts(
  rows: WorkingRows,
  { pid }: Approval,
  { askingSessions }: AnswererFacts,
  { through }: Answering,
): PlanPart<readonly [AgentClient, AskerFacts] | null> {
  if (through === undefined) return null
  const lineage = yield* lineageOf(rows, pid)
  return [through, { askingSessions, originators: lineage.map(({ record }) => record.originator) }]
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
