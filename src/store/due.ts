import { hasEnded, wakesAt } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'

/** From when on it may be claimed: 0 for at once, whatever a clock says; null while it may not. Kept beside the record, so that it can be indexed. */
export function dueOf({ record, holder }: ProcessRow): number | null {
  if (holder !== null || record.recovery === 'external') return null
  return record.status === 'queued' ? (record.retryAt ?? 0) : wakesAt(record)
}

/** What a change does to the number of live processes. */
export function becameLive(was: ProcessRow | null, row: ProcessRow): number {
  return Number(!hasEnded(row.record)) - Number(was !== null && !hasEnded(was.record))
}
