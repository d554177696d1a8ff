import type { Approval } from '../core/approval/approval.ts'
import { isInReview } from '../core/approval/review.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { registerOne } from './register-one.ts'
import { handOverChanges, reviewIntent } from './review.ts'
import type { WorkingRows } from './working-rows.ts'

/**
 * Registers the reviewer of a request in the transaction that asks, so that no crash comes between the two. If the reviewer
 * cannot be registered, a person is asked.
 */
export function* startReview(
  edges: Edges,
  rows: WorkingRows,
  { pid, at, defaultEnvRef }: { readonly pid: Pid; readonly at: number; readonly defaultEnvRef: string },
): PlanPart<void> {
  const approval = requested(rows, pid)
  if (approval === undefined || !isInReview(approval)) return
  const intent = yield* reviewIntent(edges, approval, at, defaultEnvRef)
  const started =
    intent === null
      ? null
      : yield* registerOne(edges, rows, intent, {
          isNew: false,
          formerPid: undefined,
          restarts: undefined,
          replaced: [],
          names: [],
          // No rule binds a kernel, so nothing has to be looked up.
          host: { resolved: new Map(), previews: new Map(), places: undefined, looksLeft: 0 },
        })
  // Under a pid that only this plan uses, an existing process is that of an actor that guessed the pid.
  if (started?.type === 'registered') return
  const why = started?.type === 'refused' ? `: ${started.refusal.message}` : ''
  rows.add(handOverChanges(approval, at, `the reviewer is not available${why}`))
}

/** The approval that this plan has made for a process. */
function requested({ changes }: WorkingRows, pid: Pid): Approval | undefined {
  for (const change of changes)
    if (change.type === 'approval' && change.approval.pid === pid) return change.approval
  return undefined
}
