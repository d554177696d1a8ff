import type { InputOf, OutputOf } from '../../verbs/reeve.ts'
import type { Approval } from './find-approval.ts'
import type { Operator } from './operator.ts'
import { isAskedOf } from './person-here.ts'

const PAGE = 200
/** Of one read. Settled approvals are kept as long as their processes. */
const MAX_PAGES = 50

/** The approvals of one person: higher priorities first, then the oldest. `more`: there may be others. */
export async function queueOf(
  { name, acting }: Operator,
  state: NonNullable<InputOf<'approvals'>['state']>,
  limit: number,
): Promise<{ readonly approvals: readonly Approval[]; readonly more: boolean }> {
  const found: Approval[] = []
  let after: number | null = null
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const from: { after?: number } = after === null ? {} : { after }
    const page: OutputOf<'approvals'> = await acting.approvals({ state, limit: PAGE, ...from })
    found.push(...page.approvals.filter((approval) => isAskedOf(approval, name)))
    after = page.next
    if (after === null) break
  }
  const sorted = found.toSorted((a, b) => b.request.priority - a.request.priority || a.askedAt - b.askedAt)
  return { approvals: sorted.slice(0, limit), more: after !== null || sorted.length > limit }
}
