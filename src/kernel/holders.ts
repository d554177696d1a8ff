import { ReeveError } from '../core/errors.ts'
import { type Holder, isDead, type Proof } from '../core/lease/holder.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'

export interface HolderTimes {
  readonly renewMs: number
  readonly ttlMs: number
}

/** Throws if a holder could count as dead after one or two late renewals. */
export function checkTimes({ renewMs, ttlMs }: HolderTimes): void {
  if (ttlMs >= 3 * renewMs) return
  throw new ReeveError(
    'invalid_input',
    `A TTL of ${ttlMs} ms is less than three renewals of ${renewMs} ms.`,
    'Give a holder at least three chances to renew before it counts as dead.',
  )
}

/** Writes this holder's row. `lapsed`: the row had expired or was gone, so other holders may have taken its leases. */
export function renew(edges: Edges, holder: Holder, { ttlMs }: HolderTimes): Promise<'renewed' | 'lapsed'> {
  return edges.store.write(function* () {
    const row = yield* know({ ask: 'holder', id: holder.id })
    const lapsed = row === null || row.expired
    return { answer: lapsed ? 'lapsed' : 'renewed', changes: [{ type: 'holder', holder, ttlMs }] }
  })
}

/**
 * Renews the row of a holder that has announced itself before. `gone`: other kernels have settled its processes, or an
 * operator has removed it. Then it does not come back under this id.
 */
export function renewAnnounced(
  edges: Edges,
  holder: Holder,
  { ttlMs }: HolderTimes,
): Promise<'renewed' | 'lapsed' | 'gone'> {
  return edges.store.write(function* () {
    const row = yield* know({ ask: 'holder', id: holder.id })
    if (row === null) return { answer: 'gone', changes: [] }
    return { answer: row.expired ? 'lapsed' : 'renewed', changes: [{ type: 'holder', holder, ttlMs }] }
  })
}

/** Removes the row of a dead holder, unless it has come back since. */
export async function retireDead(edges: Edges, id: string): Promise<boolean> {
  const proof = await proofOf(edges, id)
  return edges.store.write(function* () {
    const row = yield* know({ ask: 'holder', id })
    if (row === null) return { answer: true, changes: [] }
    const dead = isDead(row, proof)
    return { answer: dead, changes: dead ? [{ type: 'holder_gone', id }] : [] }
  })
}

/** The proof of this machine about a holder. A holder without a row counts as dead. */
export async function proofOf(edges: Edges, id: string): Promise<Proof> {
  const seen = await edges.store.ask({ ask: 'holder', id })
  return seen === null ? 'dead' : edges.prove(seen)
}

/** Removes this holder's own row when it closes. */
export function retire(edges: Edges, id: string): Promise<void> {
  return edges.store.write(function* () {
    yield []
    return { answer: undefined, changes: [{ type: 'holder_gone', id }] }
  })
}
