import type { Approval } from '../core/approval/approval.ts'
import type { QuestionInput } from '../core/approval/question.ts'
import { actionOf, actionText } from '../core/capability/action.ts'
import type { Edges } from './edges.ts'
import type { GateAnswer } from './gate.ts'
import { PUSH_AFTER_MS } from './permission-approval.ts'
import type { PlanPart } from './plan-part.ts'
import { lineageOf, subjectOf } from './rule-facts.ts'
import type { GatedRegistration } from './rule-on-registration.ts'
import type { WorkingRows } from './working-rows.ts'

/**
 * The gate of a question: unless a rule denies it, it waits for its reply. A rule that asks about questions asks
 * nothing more, because a person sees the question anyway.
 */
export function* askQuestion(
  edges: Edges,
  rows: WorkingRows,
  gated: GatedRegistration,
  question: QuestionInput,
  gate: Exclude<GateAnswer, { type: 'denied' | 'unresolved' }>,
): PlanPart<Extract<GateAnswer, { type: 'ask' }>> {
  const { registration, actor, at, approvalId, reason } = gated
  const { parent, owner, pid } = registration
  const subject = (yield* subjectOf(rows, actor))?.actor ?? actor
  const above = parent === null ? [] : yield* lineageOf(rows, parent)
  const action = actionOf(registration, subject, null, null)
  const { timeoutMs } = question
  // The time of the asker, and that of the rule that asks: the shorter one counts.
  const ends = [
    ...(timeoutMs === undefined ? [] : [at + Math.ceil(timeoutMs)]),
    ...(gate.type === 'ask' && gate.approval.expiresAt !== null ? [gate.approval.expiresAt] : []),
  ]
  const approval: Approval = {
    id: approvalId,
    pid,
    state: 'pending',
    askedAt: at,
    person: question.person ?? null,
    expiresAt: ends.length === 0 ? null : Math.min(...ends),
    pushAt: at + PUSH_AFTER_MS,
    request: {
      type: 'question',
      subject,
      session: owner.session ?? null,
      ancestors: above.map(({ record }) => record.pid),
      reviewer: null,
      priority: question.priority ?? 0,
      reason,
      text: question.question,
      choices: question.choices ?? null,
      uses: gate.uses.map(({ subject, id }) => ({ subject, id })),
    },
    answer: null,
  }
  const actionHash = action === null ? '' : edges.hash(actionText(action))
  return {
    type: 'ask',
    approval: { approval: approval.id, actionHash, expiresAt: approval.expiresAt },
    uses: gate.uses,
    changes: [
      // A rule that asks has made an approval of its own, which this one replaces.
      ...gate.changes.filter(({ type }) => type !== 'approval'),
      { type: 'approval', was: null, approval },
    ],
  }
}
