import type { Approval } from '../../../src/core/approval/approval.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Change } from '../../../src/store/contract.ts'
import type { Stage } from '../stage.ts'

/** The process that decides about requests in these worlds, as rules name it. */
export const REVIEWER = 'tool:review'

/**
 * The end of a review and what it means for the request are one commit: a clear answer settles it, and everything else is for a
 * person to decide.
 */
export function checkReviews(
  stage: Stage,
  approvals: ReadonlyMap<string, Approval>,
  changes: readonly Change[],
): void {
  for (const { review, approval: id } of endedReviews(changes)) {
    const was = approvals.get(id)
    if (was?.state !== 'pending' || was.request.reviewer === null) continue
    const now = changes.findLast((change) => change.type === 'approval' && change.approval.id === id)
    const after = now?.type === 'approval' ? now.approval : was
    const broke = (what: string) => stage.violated('a review is settled with its end', `${id}: ${what}`)
    const said = decisionOf(review)
    if (after.state === 'pending') {
      if (after.request.reviewer !== null) broke(`${review.pid} has ended with ${said}, and it is in review`)
      continue
    }
    // A person may have answered first, which stopped the review.
    const isVerdict = after.answer?.by === `process:${review.pid}`
    if (isVerdict && after.answer?.type !== said)
      broke(`${review.pid} said ${said}, and it was ${after.answer?.type}`)
  }
}

/** Whether this actor is the process that reviewed the request, and has just ended with an answer. */
export function isReviewOf(id: string, by: string, changes: readonly Change[]): boolean {
  return endedReviews(changes).some(
    ({ review, approval }) =>
      approval === id && by === `process:${review.pid}` && decisionOf(review) !== null,
  )
}

function endedReviews(changes: readonly Change[]) {
  return changes.flatMap((change) => {
    if (change.type !== 'process' || change.was?.record.outcome != null) return []
    const { record } = change.row
    const approval = record.causedBy?.['reviews']
    const isReview = record.originator.startsWith('kernel:') && typeof approval === 'string'
    return isReview && record.outcome !== null ? [{ review: record, approval }] : []
  })
}

/** The answer that a review gives; null if it is unsure, unclear or failed. */
function decisionOf({ outcome }: ProcessRecord): 'approved' | 'denied' | null {
  const { decision } = Object(outcome?.result) as { readonly decision?: unknown }
  if (outcome?.status !== 'completed') return null
  return decision === 'approve' ? 'approved' : decision === 'deny' ? 'denied' : null
}
