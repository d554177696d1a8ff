import type { Approval } from '../core/approval/approval.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import { RefusedError } from '../core/errors.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import type { Denied } from './gate.ts'
import { HostLooks } from './host-looks.ts'
import { type Performed, performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import type { HostFacts } from './register-one.ts'
import type { MissingPlace } from './rule-on-registration.ts'
import { WorkingRows } from './working-rows.ts'

/** The request to a person, and its entry for the audit. */
interface Asked {
  readonly approval: Approval
  readonly entry: AuditEntry
}

/** Files that change all the time use up the looks: the rules that are stored then decide. */
const MAX_LOOKS = 8

/**
 * Asks about a process that is about to begin, in one transaction: it then waits without a holder. `ask` makes the request, or names
 * the folders that the host has to look at first; null: it begins after all. Returns whether it may begin. Throws the refusal of a denial:
 * the start is tried again later.
 */
export async function askInstead(
  edges: Edges,
  work: Work,
  at: number,
  ask: (host: HostFacts) => PlanPart<Asked | MissingPlace | Denied | null>,
): Promise<boolean> {
  const { pid } = work.record
  const host = new HostLooks(edges, async () => null, MAX_LOOKS)
  for (;;) {
    const fence = work.fence()
    const done = await edges.store.write<Performed | MissingPlace | Refusal | 'begins'>(function* () {
      const asked = yield* ask(host.facts)
      if (asked === null) return { answer: 'begins', changes: [] }
      if ('type' in asked)
        return asked.type === 'denied'
          ? { answer: asked.refusal, changes: asked.changes }
          : { answer: asked, changes: [] }
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
    if (isRefusal(done)) {
      edges.onAudited?.()
      throw new RefusedError(done)
    }
    if (done.type === 'folders' || done.type === 'files') {
      const refused = await host.lookAround(done)
      if (refused !== undefined) throw new RefusedError(refused)
      continue
    }
    if (done.type !== 'refused') {
      edges.onAudited?.()
      return false
    }
    // As with every write of an executor: the fence may have risen during the write.
    if (done.refusal.code !== 'stale_fence' || work.fence().fence <= fence.fence)
      throw new RefusedError(done.refusal)
  }
}
