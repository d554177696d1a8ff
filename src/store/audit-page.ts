import type { AuditLink, AuditTail, ChainedEntry } from '../core/audit/chain.ts'
import { auditEntryFrom } from '../core/audit/entry.ts'
import { type AuditFilter, matchesAudit } from '../core/audit/filter.ts'
import { entriesOf } from '../core/audit/link.ts'
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

/**
 * The page of entries in the links that a database has found, at most `limit` of them, in the order of the question. They have
 * entries of the range, and may have others: the range can begin or end inside of a link.
 */
export function auditPage(
  found: readonly AuditLink[],
  question: Questions['audit'][0],
  { after, through, next }: ScannedRange,
): Page<ChainedEntry> {
  const { limit, newestFirst = false } = question
  const entries = found.flatMap((link) => (newestFirst ? entriesOf(link).toReversed() : entriesOf(link)))
  const items = entries.filter(
    ({ position, text }) => position > after && position <= through && matchesAuditText(text, question),
  )
  const last = items[limit - 1]
  if (last !== undefined) return { items: items.slice(0, limit), next: last.position }
  if (found.length < limit) return { items, next }
  const reached = entries.at(-1)?.position ?? through
  const isThrough = newestFirst ? reached <= after + 1 : reached >= through
  return { items, next: isThrough ? next : reached }
}

/** Of the links that a database has found, in the order of the question. */
export function linkPage(found: readonly AuditLink[], limit: number): Page<AuditLink> {
  return { items: found, next: found.length < limit ? null : (found.at(-1)?.position ?? null) }
}

/** Without a filter, every text matches: also one that was changed in the database. */
export function matchesAuditText(text: string, filter: AuditFilter): boolean {
  const { actor, target, decision, since } = filter
  if ([actor, target, decision, since].every((given) => given === undefined)) return true
  const entry = auditEntryFrom(text)
  return entry !== null && matchesAudit(entry, filter)
}
