import type { AuditTail } from './chain.ts'

/** How much of the audit is kept. Both limits count: an entry that exceeds one of them is removed. */
export interface AuditLimits {
  /** Entries before this time are removed, up to the first that is not older. */
  readonly before?: number
  /** How many entries are kept, the latest ones. Links of the chain are removed as a whole, so that some more may stay. */
  readonly keep?: number
  /** The removal makes an entry itself, which is one of those that are kept. Else each removal would be the cause of the next one. */
  readonly makesEntry?: true
}

/**
 * The last position that is removed; null if nothing is. `firstKept` is the position of the first entry that is not older than
 * the limit, null if all are older. Entries are removed from the start only, so that the rest is one chain: behind a clock that
 * was ahead for a while, older entries stay until its entries are old, too.
 */
export function prunedThrough(
  { position, start }: AuditTail,
  { before, keep, makesEntry }: AuditLimits,
  firstKept: number | null,
): number | null {
  const removed = start?.position ?? 0
  const byAge = before === undefined ? 0 : (firstKept ?? position + 1) - 1
  const beyond = keep === undefined ? 0 : position - keep
  const byCount = beyond > removed && makesEntry === true ? beyond + 1 : beyond
  const through = Math.min(position, Math.max(byAge, byCount))
  return through > removed ? through : null
}
