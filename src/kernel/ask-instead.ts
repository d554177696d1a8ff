import type { Approval } from '../core/approval/approval.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import { RefusedError } from '../core/errors.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import { type Performed, performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { WorkingRows } from './working-rows.ts'

/** The request to a person, and its entry for the audit. */
interface Asked {
  readonly approval: Approval
  readonly entry: AuditEntry
}

/**
 * Asks about a process that is about to begin, in one transaction: it then waits without a holder. `ask` makes the request; null: it
 * begins after all. Returns whether it may begin.
 */
export async function askInstead(
  edges: Edges,
  work: Work,
  at: number,
  ask: () => PlanPart<Asked | null>,
): Promise<boolean> {
  const { pid } = work.record
  for (;;) {
    const fence = work.fence()
    const done = await edges.store.write<Performed | 'begins'>(function* () {
      const asked = yield* ask()
      if (asked === null) return { answer: 'begins', changes: [] }
      const { approval, entry } = asked
      const rows = new WorkingRows()
      const was = yield* know({ ask: 'approval', id: approval.id })
      rows.add([
        { type: 'approval', was, approval },
        { type: 'audit', entry },
      ])
      const { id, expiresAt, request } = approval
      const actionHash = request.type === 'permission' ? request.actionHash : ''
      const requested = { approval: id, actionHash, expiresAt }
      const actor = `process:${pid}` as const
      const one = yield* performOne(edges, rows, { type: 'ask_again', pid, actor, at, fence, requested })
      return { answer: one, changes: one.type === 'refused' ? [] : rows.changes }
    })
    if (done === 'begins') return true
    if (done.type !== 'refused') {
      edges.onAudited?.()
      return false
    }
    // As with every write of an executor: the fence may have risen during the write.
    if (done.refusal.code !== 'stale_fence' || work.fence().fence <= fence.fence)
      throw new RefusedError(done.refusal)
  }
}
