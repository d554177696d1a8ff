import type { AuditEntry } from './entry.ts'

/** Counts denials that equal one in the audit, outside of the chain, so that a looping agent cannot fill the disk. */
export interface AuditWindow {
  readonly key: string
  readonly openedAt: number
  /** How many followed the first. */
  readonly repeats: number
  /** The first, which is in the chain. */
  readonly entry: AuditEntry
}
