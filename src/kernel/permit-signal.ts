import { RefusedError } from '../core/errors.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { auditedPlan } from './audit.ts'
import { refuseSignal } from './beyond-ownership.ts'
import type { Edges } from './edges.ts'
import { WorkingRows } from './working-rows.ts'

/** For signals that need no intent: throws unless the actor owns the process, or a rule names it. The audit has both answers of rules. */
export async function permitSignal(
  edges: Edges,
  actor: Actor,
  action: string,
  record: ProcessRecord,
): Promise<void> {
  const denied = edges.authorize(actor, 'signal', { type: 'process', record })
  if (denied === undefined) return
  const act = { at: edges.clock.now(), actor, action, target: `process:${record.pid}` }
  const refused = await edges.store.write(
    auditedPlan<null>(edges, act, function* () {
      const rows = new WorkingRows()
      const asked = { type: 'signal', actor, at: act.at } as const
      const still: Refusal | undefined = yield* refuseSignal(edges, rows, record, asked, denied)
      return still === undefined ? { answer: null, changes: rows.changes } : { answer: still, changes: [] }
    }),
  )
  if (refused !== null) throw new RefusedError(refused)
}
