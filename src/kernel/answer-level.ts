import type { Approval } from '../core/approval/approval.ts'
import type { Answer } from '../core/approval/decide-answer.ts'
import { answeringSubjects, coveringRule } from '../core/approval/remembered-answer.ts'
import { type RuleLevel, workspaceOfRequest } from '../core/approval/rule-level.ts'
import { type RuleRef, refOf } from '../core/capability/ruling.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { ruleSetsOf } from './rule-facts.ts'
import type { WorkingRows } from './working-rows.ts'

/** The answer with the subject that gets its rule. */
export function* placedAnswer(
  edges: Edges,
  rows: WorkingRows,
  approval: Approval,
  { answer, level = 'home' }: { readonly answer: Answer; readonly level?: RuleLevel },
): PlanPart<Answer | Refusal> {
  const { request } = approval
  if (answer.type !== 'approve' || level === 'home' || request.type !== 'permission') return answer
  const { session } = request
  const workspaces = session === null ? [] : ((yield* rows.session(session))?.workspaces ?? [])
  const storedIn = workspaceOfRequest(approval.id, request, { workspaces, machine: edges.machine ?? null })
  return isRefusal(storedIn) ? storedIn : { ...answer, storedIn }
}

/** The rule of the home or of a workspace that answers a pending request; undefined if there is none. */
export function* storedAnswer({ request }: Approval, at: number): PlanPart<RuleRef | undefined> {
  if (request.type !== 'permission') return undefined
  for (const set of yield* ruleSetsOf({ sets: answeringSubjects(request) })) {
    const rule = coveringRule(request, set, at)
    if (rule !== undefined) return refOf(set.subject, rule)
  }
  return undefined
}
