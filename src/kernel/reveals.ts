import type { AuditEntry } from '../core/audit/entry.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { auditDenial, PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import { performOne } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

/** A request to see secrets. */
export interface RevealRequest {
  readonly actor: Actor
  readonly verb: string
  readonly trace: string | null
}

/**
 * Records that secrets of these processes are shown: in the audit, and as an event of each process that has not ended. The end is
 * the last event of a process, so its later reveals are in the audit alone.
 */
export async function recordReveals(
  edges: Edges,
  request: RevealRequest,
  pids: readonly Pid[],
): Promise<void> {
  const { actor, verb } = request
  const at = edges.clock.now()
  const refused = await edges.store.write<Refusal | undefined>(function* () {
    const rows = new WorkingRows()
    const audit = new PlannedAudit(edges)
    yield* rows.processes(pids)
    for (const pid of pids) {
      const performed = yield* performOne(edges, rows, { type: 'reveal', pid, actor, at, verb })
      if (performed.type === 'refused' && !LATE.has(performed.refusal.code))
        return { answer: performed.refusal, changes: [] }
      audit.record({ ...entryOf(request, at), target: `process:${pid}`, decision: 'revealed', reason: null })
    }
    return { answer: undefined, changes: [...rows.changes, ...audit.changes] }
  })
  if (refused !== undefined) throw new RefusedError(refused)
  edges.onAudited?.()
}

/** Records that an actor asked for secrets and may not see any. */
export function recordDeniedReveal(edges: Edges, request: RevealRequest, reason: string): Promise<void> {
  const entry = entryOf(request, edges.clock.now())
  return auditDenial(edges, { ...entry, target: 'store', decision: 'denied', reason })
}

/** The process was pruned after it was read. */
const LATE: ReadonlySet<string> = new Set(['unknown_pid', 'pruned_pid'])

function entryOf({ actor, verb, trace }: RevealRequest, at: number) {
  return { at, actor, action: 'reveal', rule: null, inputs: { verb }, trace } satisfies Partial<AuditEntry>
}
