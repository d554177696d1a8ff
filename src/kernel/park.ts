import { RefusedError } from '../core/errors.ts'
import type { WaitRef } from '../core/process/intent.ts'
import { isRefusal } from '../core/refusal.ts'
import type { ScriptSnapshot } from '../core/script/snapshot.ts'
import { awaiterOf } from './awaiter-of.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import { performAll } from './perform.ts'

/**
 * Parks a waiting process, if it still waits for all of these: it leaves memory and gives its lease back. The children
 * that it waits for learn in the same transaction who waits, so that their end makes it go on.
 */
export async function park(
  edges: Edges,
  work: Work,
  waits: readonly WaitRef[],
  snapshot?: ScriptSnapshot,
): Promise<boolean> {
  const { pid } = work.record
  const children = new Set(waits.filter(({ on }) => on === 'child').map(({ name }) => name))
  for (;;) {
    const at = edges.clock.now()
    const awaiting = { actor: awaiterOf(work), at }
    const asked = { actor: `process:${pid}`, at } as const
    const fence = work.fence()
    const parked = await performAll(edges, [
      ...[...children].map((child) => ({ type: 'await_end', pid: child, by: pid, ...awaiting }) as const),
      { type: 'park', pid, waits, fence, ...asked, ...(snapshot === undefined ? {} : { snapshot }) },
    ])
    if (!isRefusal(parked)) return true
    if (parked.code !== 'stale_fence') return false
    // As with every write of an executor: the fence may have risen during the write.
    if (work.fence().fence <= fence.fence) throw new RefusedError(parked)
  }
}
