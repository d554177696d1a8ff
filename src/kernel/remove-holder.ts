import { refuseRemoval } from '../core/lease/remove-holder.ts'
import type { Refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { proofOf } from './holders.ts'
import { emptyReport, type Recovering, type RecoveryReport, recoverHolder } from './recover.ts'

/** A claim that was under way when the row went may be committed behind the first look; sweeps find what comes later. */
const MAX_ROUNDS = 3

/**
 * An operator declares a holder dead. Its row goes first, so that it cannot renew it; then all that it holds is settled as
 * recovery would, page by page. When this comes back no write of its fences is accepted. If this program dies in between, any
 * kernel goes on in its sweep, and so does another call of this.
 */
export async function removeHolder(
  edges: Edges,
  recovering: Recovering,
  id: string,
  { force }: { readonly force: boolean },
): Promise<RecoveryReport | Refusal> {
  const proof = await proofOf(edges, id)
  const refused = await edges.store.write<Refusal | undefined>(function* () {
    const row = yield* know({ ask: 'holder', id })
    const { items } = yield* know({ ask: 'held', holder: id, after: null, limit: 1 })
    const answer = refuseRemoval(id, row, { proof, holdsAny: items.length > 0, force })
    return { answer, changes: answer === undefined && row !== null ? [{ type: 'holder_gone', id }] : [] }
  })
  if (refused !== undefined) return refused
  const report = emptyReport()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await recoverHolder(edges, recovering, { id, state: 'removed' }, report)
    const { items } = await edges.store.ask({ ask: 'held', holder: id, after: null, limit: 1 })
    if (items.length === 0) break
  }
  return report
}
