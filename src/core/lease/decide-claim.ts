import { hasEnded, type ProcessRecord, wakesAt } from '../process/record.ts'
import type { ProcessRow } from '../process/row.ts'
import type { Lease } from './lease.ts'

export type ClaimDecision =
  | { readonly type: 'granted'; readonly lease: Lease & { readonly holder: string } }
  | { readonly type: 'busy'; readonly holder: string; readonly fence: number }
  | { readonly type: 'refused'; readonly why: 'ended' | 'external' | 'not_ready' | 'not_due' }

/**
 * Who may execute.
 *
 * | lease             | claimant       | answer                                     |
 * | free              | anyone         | granted, fence + 1                         |
 * | held              | its own holder | granted, the fence it has                  |
 * | held              | anyone else    | busy, with the holder                      |
 *
 * A claim never passes over a dead holder: recovery settles what that one had first, so that what happened to the
 * process is an event, and then its lease is free.
 */
export function decideClaim(row: ProcessRow, claimant: string, at: number): ClaimDecision {
  const refused = whyNot(row.record, at)
  if (row.holder === claimant) return { type: 'granted', lease: { holder: claimant, fence: row.fence } }
  if (refused === 'ended' || refused === 'external') return { type: 'refused', why: refused }
  if (row.holder !== null) return { type: 'busy', holder: row.holder, fence: row.fence }
  if (refused !== undefined) return { type: 'refused', why: refused }
  return { type: 'granted', lease: { holder: claimant, fence: row.fence + 1 } }
}

/** A holder whose row lapsed and came back: what is still its own it takes again, with a higher fence. */
export function decideReclaim(row: ProcessRow, claimant: string): Lease | undefined {
  return row.holder === claimant && !hasEnded(row.record)
    ? { holder: claimant, fence: row.fence + 1 }
    : undefined
}

function whyNot(record: ProcessRecord, at: number) {
  if (hasEnded(record)) return 'ended'
  if (record.recovery === 'external') return 'external'
  const due = wakesAt(record)
  if (due !== null) return due > at ? 'not_due' : undefined
  if (record.status !== 'ready') return 'not_ready'
  if (record.retryAt !== null && record.retryAt > at) return 'not_due'
  return undefined
}
