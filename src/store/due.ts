import { hasEnded } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { wakesAt } from '../core/process/wait.ts'

/**
 * The time from which a process may be claimed: 0 for at once, independent of any clock; null while it may not. Stored beside
 * the record, so that an index can hold it.
 */
export function dueOf({ record, holder }: ProcessRow): number | null {
  if (holder !== null || record.recovery === 'external') return null
  return record.status === 'queued' ? (record.retryAt ?? 0) : wakesAt(record)
}

/** How a change alters the number of live processes: 1, 0 or -1. */
export function becameLive(was: ProcessRow | null, row: ProcessRow): number {
  return Number(!hasEnded(row.record)) - Number(was !== null && !hasEnded(was.record))
}
