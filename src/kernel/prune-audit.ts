import type { AuditAnchor, AuditStart, ChainedEntry } from '../core/audit/chain.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import { type AuditLimits, prunedThrough } from '../core/audit/retention.ts'
import type { Change } from '../core/change.ts'
import type { Actor } from '../core/process/record.ts'
import type { Page } from '../store/contract.ts'
import { signedStart } from './audit-start.ts'
import type { Edges } from './edges.ts'

/** How many entries one transaction removes. */
const BATCH = 5_000

export interface AuditPruneReport {
  readonly removed: number
  /** The last entry that was removed, now or earlier; null if none ever was. */
  readonly start: { readonly position: number; readonly hash: string } | null
}

/**
 * Removes the oldest entries of the audit beyond the limits, in batches. Each batch leaves the signed place after which the chain
 * begins, so that after a crash the rest is sound. With `by`, the removal is itself an entry, in the transaction of the last batch.
 */
export async function pruneAudit(
  edges: Edges,
  limits: AuditLimits,
  { by, isOpen = () => true }: { readonly by?: Actor; readonly isOpen?: () => boolean } = {},
): Promise<AuditPruneReport> {
  const { store } = edges
  const tail = await store.ask({ ask: 'auditTail' })
  const through = prunedThrough(tail, limits, await firstKept(edges, limits.before))
  if (through === null) return { removed: 0, start: placeOf(tail.start) }
  const from = tail.start?.position ?? 0
  let start = tail.start
  let isNoted = by === undefined
  const entries = (end: number): readonly Change[] =>
    by === undefined ? [] : [{ type: 'audit', entry: removal(edges, by, end - from, end) }]
  while (isOpen() && (start?.position ?? 0) < through) {
    const before = start?.position ?? from
    const place = await lastLink(edges, Math.min(through, before + BATCH))
    // Links are removed as a whole: more may be kept than was asked for. Or another kernel has removed them meanwhile.
    if (place === undefined || place.position <= before) break
    start = await signedStart(edges, place)
    const isLast = place.position === through
    await change(edges, { type: 'audit_pruned', start }, ...(isLast ? entries(place.position) : []))
    isNoted ||= isLast
  }
  const end = start?.position ?? from
  if (!isNoted && end > from) await change(edges, ...entries(end))
  edges.onAudited?.()
  return { removed: end - from, start: placeOf(start) }
}

/** The end of the last link up to a position. */
async function lastLink({ store }: Edges, through: number): Promise<AuditAnchor | undefined> {
  const question = { ask: 'auditLinks', newestFirst: true, after: through + 1, limit: 1 } as const
  const [found] = (await store.ask(question)).items
  return found === undefined ? undefined : { position: found.position, hash: found.hash }
}

/** The position of the first entry that is not older; null if all are. */
async function firstKept({ store }: Edges, before: number | undefined): Promise<number | null> {
  if (before === undefined) return null
  for (let after: number | null = 0; after !== null; ) {
    const page: Page<ChainedEntry> = await store.ask({ ask: 'audit', since: before, after, limit: 1 })
    const [found] = page.items
    if (found !== undefined) return found.position
    after = page.next
  }
  return null
}

function change({ store }: Edges, ...changes: readonly Change[]): Promise<void> {
  return store.write(function* () {
    yield []
    return { answer: undefined, changes }
  })
}

function removal({ clock }: Edges, by: Actor, removed: number, through: number): AuditEntry {
  return {
    at: clock.now(),
    actor: by,
    action: 'prune',
    target: 'audit',
    decision: 'allowed',
    rule: null,
    reason: null,
    inputs: { removed, through },
    trace: null,
  }
}

function placeOf(start: AuditStart | null): AuditPruneReport['start'] {
  return start === null ? null : { position: start.position, hash: start.hash }
}
