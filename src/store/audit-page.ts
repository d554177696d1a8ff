import type { AuditTail, ChainedEntry } from '../core/audit/chain.ts'
import { auditEntryFrom } from '../core/audit/entry.ts'
import { type AuditFilter, matchesAudit } from '../core/audit/filter.ts'
import type { Page, Questions } from './contract.ts'

/** Entries that one page looks at: some milliseconds. There is no index for filters, which every entry would have to pay for. */
const MAX_SCANNED = 10_000

/** The positions that a page looks at: after `after`, through `through`. */
interface ScannedRange {
  readonly after: number
  readonly through: number
  /** Where the next page continues, if this one is not full; null if this is the end. */
  readonly next: number | null
}

export function scannedRange(question: Questions['audit'][0], { position, start }: AuditTail): ScannedRange {
  const begin = start?.position ?? 0
  if (question.newestFirst === true) {
    const through = Math.min(position, (question.after ?? position + 1) - 1)
    const after = Math.max(begin, through - MAX_SCANNED)
    return { after, through, next: after > begin ? after + 1 : null }
  }
  const after = Math.max(begin, question.after ?? 0)
  const through = Math.min(position, after + MAX_SCANNED)
  return { after, through, next: through < position ? through : null }
}

/** The page of entries that a database has found in the range, at most `limit` of them. */
export function auditPage(
  found: readonly ChainedEntry[],
  question: Questions['audit'][0],
  { next }: ScannedRange,
): Page<ChainedEntry> {
  return {
    items: found.filter(({ text }) => matchesAuditText(text, question)),
    next: found.length < question.limit ? next : (found.at(-1)?.position ?? null),
  }
}

/** Without a filter, every text matches: also one that was changed in the database. */
export function matchesAuditText(text: string, filter: AuditFilter): boolean {
  const { actor, target, decision, since } = filter
  if ([actor, target, decision, since].every((given) => given === undefined)) return true
  const entry = auditEntryFrom(text)
  return entry !== null && matchesAudit(entry, filter)
}
