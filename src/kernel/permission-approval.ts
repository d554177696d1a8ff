import type { Approval, ApprovalRequest } from '../core/approval/approval.ts'
import { isDestructive } from '../core/approval/destructive.ts'
import { ONCE, offeredGrants } from '../core/approval/grants.ts'
import { REVIEW_MS, reviewedBy } from '../core/approval/review.ts'
import { actionText } from '../core/capability/action.ts'
import { doubtOf } from '../core/capability/doubt.ts'
import { needText } from '../core/capability/need.ts'
import { isConfirmed, isRequested } from '../core/capability/requested.ts'
import { asksOn } from '../core/capability/rule-on.ts'
import type { Ruling } from '../core/capability/ruling.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { lineageOf } from './rule-facts.ts'
import {
  type GatedRegistration,
  hashesOf,
  type Ruled,
  repeatTextsOf,
  withHashes,
} from './rule-on-registration.ts'
import type { WorkingRows } from './working-rows.ts'

/** How long an approval waits before surfaces push it to people: most are answered by a person who looks already. */
export const PUSH_AFTER_MS = 2_000

type PermissionApproval = Approval & { readonly request: Extract<ApprovalRequest, { type: 'permission' }> }

/** The request to a person for a registration that the rules ask about. */
export function* permissionApproval(
  edges: Edges,
  rows: WorkingRows,
  gated: GatedRegistration,
  { subject, sets, ceilings, action, needs, facts }: Ruled,
  ruling: Extract<Ruling, { type: 'ask' }>,
): PlanPart<PermissionApproval> {
  const { registration, at, approvalId, reason, resolved, change } = gated
  const { parent, owner, pid } = registration
  const above = parent === null ? [] : yield* lineageOf(rows, parent)
  const hashes = hashesOf(edges, yield* repeatTextsOf(rows, gated, action))
  const settles = asksOn(sets, ceilings, needs, facts)
  const doubt = doubtOf(ruling.rule, { sets, ceilings, needs, facts })
  // An answer is about the start: it allows none of the effects that were named in advance.
  const own = needs.filter((need) => !isRequested(need))
  // A review that needs a permission would be reviewed in turn, and so on.
  const reviewer = above.some(({ record }) => reviewedBy(record) !== null) ? null : ruling.reviewer
  return {
    id: approvalId,
    pid,
    state: 'pending',
    askedAt: at,
    person: null,
    expiresAt: ruling.answerWithinMs === null ? null : at + ruling.answerWithinMs,
    pushAt: at + (reviewer === null ? PUSH_AFTER_MS : REVIEW_MS),
    ...(reviewer === null ? {} : { reviewUntil: at + REVIEW_MS }),
    request: {
      type: 'permission',
      subject: subject.actor,
      session: owner.session ?? null,
      ancestors: above.map(({ record }) => record.pid),
      reviewer,
      priority: 0,
      reason,
      action,
      actionHash: edges.hash(actionText(action)),
      variables: resolved?.variables ?? {},
      ...(change === null || change === 'unknown' ? {} : { change }),
      needs: needs.map(needText),
      effects: withHashes(own, hashes),
      boundBy: subject.sets,
      rule: ruling.rule,
      justification: ruling.justification,
      ...(doubt === null ? {} : { doubt }),
      defaultToNo: isDestructive(needs),
      ...(own.length < needs.length || needs.some(isConfirmed)
        ? ONCE
        : offeredGrants({ needs, action, shell: resolved?.shell ?? null, settles, hashes, at })),
      settles,
      repeatHash: hashes.always,
      uses: ruling.uses.map(({ subject, id }) => ({ subject, id })),
    },
    answer: null,
  }
}
