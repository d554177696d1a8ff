import type { Approval, PermissionRequest } from '../core/approval/approval.ts'
import { ceilingsOver } from '../core/capability/ceiling.ts'
import { type NeedFacts, needsOf } from '../core/capability/needs.ts'
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
  { subject: actor, effects: stored, action, boundBy = [] }: Approval['request'] & PermissionRequest,
  record: Pick<ProcessRecord, 'pid' | 'ceilings' | 'kind' | 'spec'>,
  at: number,
): PlanPart<Ruling> {
  const { pid, ceilings = [] } = record
  const effects = stored ?? needsOf(record, NOT_RESOLVED)
  const now = yield* subjectOf(rows, actor)
  // The folders are those of the request. A process that has moved to another session since is bound by that one as well.
  const bound = [...new Set([...boundBy, ...(now?.sets ?? [])])]
  const sets = (yield* ruleSetsOf({ sets: bound })).flatMap(setsIn)
  const over = ceilingsOver(pid, ceilings)
  const facts = yield* rulingFacts(rows, sets, over, effects, { at, host: action.host })
  return ruleOnAll(sets, over, effects, facts)
}

/** Of a request that an earlier version stored: what a command does is not known, so that it may do everything. */
const NOT_RESOLVED: NeedFacts = {
  shell: null,
  programs: new Map(),
  cwd: null,
  workspace: null,
  env: [],
  codeVariables: [],
  secrets: [],
}
