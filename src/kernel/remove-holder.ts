import { refuseRemoval } from '../core/lease/remove-holder.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { know, type Page } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { proofOf } from './holders.ts'
import type { PlanPart } from './plan-part.ts'
import { emptyReport, type Recovering, type RecoveryReport, recoverHolder } from './recover.ts'

/** A claim that was under way when the row was removed may be committed after the first look; sweeps find later ones. */
const MAX_ROUNDS = 3
const PAGE = 1_000

/**
 * Declares a holder dead for an operator. Its row is removed first, so that it cannot renew it; then everything that it holds
 * is settled as in recovery, page by page. When this returns, no write under its fences is accepted. If this program dies in
 * between, the sweep of any kernel goes on, and so does another call.
 */
export async function removeHolder(
  edges: Edges,
  recovering: Recovering,
  id: string,
  { force }: { readonly force: boolean },
): Promise<RecoveryReport | Refusal> {
  const proof = await proofOf(edges, id)
  const removed = await edges.store.write<Refusal | ReadonlyMap<Pid, number>>(function* () {
    const row = yield* know({ ask: 'holder', id })
    const seen = yield* heldBy(id)
    const refused = refuseRemoval(id, row, { proof, holdsAny: seen.size > 0, force })
    if (refused !== undefined) return { answer: refused, changes: [] }
    return { answer: seen, changes: row === null ? [] : [{ type: 'holder_gone', id }] }
  })
  if (isRefusal(removed)) return removed
  const report = emptyReport()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await recoverHolder(edges, recovering, { id, state: 'removed', seen: removed }, report)
    const { items } = await edges.store.ask({ ask: 'held', holder: id, after: null, limit: 1 })
    if (items.length === 0) break
  }
  return report
}

/** The fence of each process that it holds. A keeper may come back under its id and begin other processes. */
function* heldBy(holder: string): PlanPart<Map<Pid, number>> {
  const fences = new Map<Pid, number>()
  let after: number | null = null
  do {
    const page: Page<ProcessRow> = yield* know({ ask: 'held', holder, after, limit: PAGE })
    for (const { record, fence } of page.items) fences.set(record.pid, fence)
    after = page.next
  } while (after !== null)
  return fences
}
