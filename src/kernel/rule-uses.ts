import type { Approval } from '../core/approval/approval.ts'
import { type RuleRef, useIdOf } from '../core/capability/ruling.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

export type Uses = readonly Pick<RuleRef, 'subject' | 'id'>[]

/**
 * Gives back the uses of counted rules that were reserved for a request: it was denied, withdrawn or has expired, or is a question,
 * so that nothing began. A request is settled once, so no use is given back twice.
 */
export function* giveBackUses(rows: WorkingRows, { request }: Approval): PlanPart<void> {
  yield* giveBack(rows, request.uses ?? [])
}

export function* giveBack(rows: WorkingRows, uses: Uses): PlanPart<void> {
  for (const ref of uses) {
    const id = useIdOf(ref)
    const [was = null] = yield* rows.ruleUses([id])
    // Removed with its rule.
    if (was === null || was.used === 0) continue
    rows.add([{ type: 'rule_use', was, use: { ...was, used: was.used - 1 } }])
  }
}

export function* reserveUses(rows: WorkingRows, uses: Uses): PlanPart<void> {
  for (const ref of uses) {
    const id = useIdOf(ref)
    const [was = null] = yield* rows.ruleUses([id])
    rows.add([{ type: 'rule_use', was, use: { id, subject: ref.subject, used: (was?.used ?? 0) + 1 } }])
  }
}
