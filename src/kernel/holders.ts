import { type Holder, isDead } from '../core/lease/holder.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'

export interface HolderTimes {
  readonly renewMs: number
  readonly ttlMs: number
}

/** Writes this holder's row. `lapsed`: it had expired or was gone meanwhile, so that others may have taken its leases. */
export function renew(edges: Edges, holder: Holder, { ttlMs }: HolderTimes): Promise<'renewed' | 'lapsed'> {
  return edges.store.write(function* () {
    const row = yield* know({ ask: 'holder', id: holder.id })
    const lapsed = row === null || row.expired
    return { answer: lapsed ? 'lapsed' : 'renewed', changes: [{ type: 'holder', holder, ttlMs }] }
  })
}

/** Takes away the row of a holder that is dead, unless it has come back meanwhile. */
export async function retireDead(edges: Edges, id: string): Promise<void> {
  const seen = await edges.store.ask({ ask: 'holder', id })
  const proof = seen === null ? 'dead' : edges.prove(seen)
  await edges.store.write(function* () {
    const row = yield* know({ ask: 'holder', id })
    return {
      answer: undefined,
      changes: row !== null && isDead(row, proof) ? [{ type: 'holder_gone', id }] : [],
    }
  })
}

/** Takes away this kernel's own row, at its end. */
export function retire(edges: Edges, id: string): Promise<void> {
  return edges.store.write(function* () {
    yield []
    return { answer: undefined, changes: [{ type: 'holder_gone', id }] }
  })
}
