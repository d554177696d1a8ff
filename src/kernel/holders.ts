import type { Holder } from '../core/lease/holder.ts'
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

export function retire(edges: Edges, id: string): Promise<void> {
  return edges.store.write(function* () {
    yield []
    return { answer: undefined, changes: [{ type: 'holder_gone', id }] }
  })
}
