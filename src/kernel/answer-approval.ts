import { refuseThroughClient } from '../core/approval/answer-through-client.ts'
import { type Approval, isPending } from '../core/approval/approval.ts'
import {
  type Answer,
  decideAnswer,
  isOver,
  refuseReach,
  settledByRule,
} from '../core/approval/decide-answer.ts'
import { refuseAnswerer } from '../core/approval/may-answer.ts'
import type { RuleLevel } from '../core/approval/rule-level.ts'
import type { AgentClient } from '../core/authority/person.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import { placedAnswer, storedAnswer } from './answer-level.ts'
import { answererFacts, askerFacts } from './answerer-facts.ts'
import { deniedAnswerEntry } from './approval-entries.ts'
import { PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { type Edit, type RefusedYes, ruledAnswer } from './ruled-answer.ts'
import {
  type ApprovalSettlement,
  expire,
  refusedWith,
  type Settling,
  settle,
  unknownApproval,
} from './settle-approval.ts'
import { WorkingRows } from './working-rows.ts'

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

/** The settlement by the answerer and the time alone, before the content of an answer is read; undefined if the content decides. */
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
