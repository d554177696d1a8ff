import type { Approval } from './find-approval.ts'
import type { Operator } from './operator.ts'
import { isAskedOf } from './person-here.ts'

/** Settled approvals of one answer. They are kept as long as their processes. */
const MAX_SETTLED = 200

/** The approvals that wait for one person: higher priorities first, then the oldest. `more`: there are others. */
export async function queueOf(
  { name, acting }: Operator,
  limit: number,
): Promise<{ readonly approvals: readonly Approval[]; readonly more: boolean }> {
  const person = name.slice('human:'.length)
  const { approvals, pending = approvals.length } = await acting.approvals({
    order: 'priority',
    person,
    limit,
  })
  return { approvals, more: pending > approvals.length }
}

/** The queue, then the settled approvals of the person, the newest first. */
export async function queueWithSettled(
  operator: Operator,
  limit: number,
): Promise<{ readonly approvals: readonly Approval[]; readonly more: boolean }> {
  const queue = await queueOf(operator, limit)
  const page = await operator.acting.approvals({ state: 'any', order: 'newest', limit: MAX_SETTLED })
  const settled = page.approvals.filter(
    (approval) => approval.state !== 'pending' && isAskedOf(approval, operator.name),
  )
  const all = [...queue.approvals, ...settled]
  return {
    approvals: all.slice(0, limit),
    more: queue.more || page.next !== null || all.length > limit,
  }
}
