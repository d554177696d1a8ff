import type { Approval, PermissionRequest } from '../core/approval/approval.ts'
import { ceilingsOver } from '../core/capability/ceiling.ts'
import { ruleOnAll } from '../core/capability/rule-on.ts'
import { setsIn } from '../core/capability/rule-set.ts'
import type { Ruling } from '../core/capability/ruling.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { PlanPart } from './plan-part.ts'
import { ruleSetsOf, rulingFacts, subjectOf } from './rule-facts.ts'
import type { WorkingRows } from './working-rows.ts'

/**
 * What the rules say now about a request that waits: they may have changed since it was asked. The uses that are reserved for it
 * have to be given back in `rows` before, or it would compete with itself.
 */
export function* ruleOnRequest(
  rows: WorkingRows,
  { subject: actor, effects, action, boundBy }: Approval['request'] & PermissionRequest,
  { pid, ceilings = [] }: Pick<ProcessRecord, 'pid' | 'ceilings'>,
  at: number,
): PlanPart<Ruling> {
  const now = yield* subjectOf(rows, actor)
  // The folders are those of the request. A process that has moved to another session since is bound by that one as well.
  const bound = [...new Set([...boundBy, ...(now?.sets ?? [])])]
  const sets = (yield* ruleSetsOf({ sets: bound })).flatMap(setsIn)
  const over = ceilingsOver(pid, ceilings)
  const facts = yield* rulingFacts(rows, sets, over, effects, { at, host: action.host })
  return ruleOnAll(sets, over, effects, facts)
}
