import { isPlacedAt, type Placement } from '../placement/placement.ts'
import { awaitsApproval } from '../process/gate.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import type { ProcessRow } from '../process/row.ts'
import { wakesAt } from '../process/wait.ts'
import type { Lease } from './lease.ts'

/** The holder that claims, and where it is. */
export interface Claimant {
  readonly holder: string
  readonly here: readonly Placement[]
}

export type ClaimRefusal = 'ended' | 'external' | 'not_ready' | 'not_due' | 'elsewhere'

export type ClaimDecision =
  | { readonly type: 'granted'; readonly lease: Lease & { readonly holder: string } }
  | { readonly type: 'busy'; readonly holder: string; readonly fence: number }
  | { readonly type: 'refused'; readonly why: ClaimRefusal }

/**
 * Whether a claimant gets the lease.
 *
 * | lease             | claimant       | answer                                     |
 * | free              | anyone         | granted, fence + 1                         |
 * | held              | its own holder | granted, the fence it has                  |
 * | held              | anyone else    | busy, with the holder                      |
 *
 * A process that is placed elsewhere is refused, free or not.
 * A claim never takes a lease from a dead holder. Recovery settles the process first, so that its fate is an
 * event, and then its lease is free.
 */
export function decideClaim(row: ProcessRow, { holder, here }: Claimant, at: number): ClaimDecision {
  const refused = whyNot(row.record, at)
  if (row.holder === holder) return { type: 'granted', lease: { holder, fence: row.fence } }
  if (refused === 'ended' || refused === 'external') return { type: 'refused', why: refused }
  if (!isPlacedAt(row.record.placement, here)) return { type: 'refused', why: 'elsewhere' }
  if (row.holder !== null) return { type: 'busy', holder: row.holder, fence: row.fence }
  if (refused !== undefined) return { type: 'refused', why: refused }
  return { type: 'granted', lease: { holder, fence: row.fence + 1 } }
}

/** A holder whose row lapsed and came back reclaims the leases that are still its own, with a higher fence. */
export function decideReclaim(row: ProcessRow, claimant: string): Lease | undefined {
  return row.holder === claimant && !hasEnded(row.record)
    ? { holder: claimant, fence: row.fence + 1 }
    : undefined
}

function whyNot(record: ProcessRecord, at: number): Exclude<ClaimRefusal, 'elsewhere'> | undefined {
  if (hasEnded(record)) return 'ended'
  if (record.recovery === 'external') return 'external'
  if (awaitsApproval(record)) return 'not_ready'
  const due = wakesAt(record)
  if (due !== null) return due > at ? 'not_due' : undefined
  if (record.status !== 'queued') return 'not_ready'
  if (record.retryAt !== null && record.retryAt > at) return 'not_due'
  return undefined
}
