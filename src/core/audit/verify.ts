import type { AuditAnchor, AuditLink } from './chain.ts'
import { entriesIn, latestOf } from './link.ts'

/**
 * Where the chain stops being what was written.
 *
 * | reason    | found                                                                                     |
 * | changed   | the text, time or hash of the link with this entry is not the one that was written        |
 * | missing   | the entry with this position is not there, and later ones are                             |
 * | rewritten | the chain is consistent, but differs from an anchor: it was replaced from here on, or later |
 * | cut       | the chain ends here, and an anchor names a later entry                                     |
 * | unsigned  | the entries before the first were removed, and not by this home                            |
 */
export interface ChainBreak {
  readonly type: 'broken'
  /** The first position that cannot be trusted: the first of its link, since one hash covers the link. */
  readonly from: number
  readonly reason: 'changed' | 'missing' | 'rewritten' | 'cut' | 'unsigned'
}

export type VerifiedPage = { readonly type: 'sound'; readonly end: AuditAnchor } | ChainBreak

/**
 * Verifies the links after `from`, a place that has been verified. `anchors` are places that were noted outside of the
 * store, in order of position. Pure: the caller provides the hash function.
 */
export function verifyPage(
  from: AuditAnchor,
  page: readonly AuditLink[],
  anchors: readonly AuditAnchor[],
  hashOf: (text: string) => string,
): VerifiedPage {
  const noted = Map.groupBy(anchors, ({ position }) => position)
  let end = from
  for (const { position, at, text, hash } of page) {
    const next = end.position + 1
    const entries = entriesIn(text)
    if (entries === null ? position < next : position !== end.position + entries.length)
      return { type: 'broken', from: next, reason: 'missing' }
    if (entries === null || hash !== hashOf(`${end.hash}${text}`) || latestOf(entries) !== at)
      return { type: 'broken', from: next, reason: 'changed' }
    const differing = differingAnchor(noted, next, { position, hash })
    if (differing !== undefined)
      return { type: 'broken', from: afterLastAnchor(differing, anchors), reason: 'rewritten' }
    end = { position, hash }
  }
  return { type: 'sound', end }
}

/** The position of an anchor that is inside of the link which begins with `next`, or has another hash than the link. */
function differingAnchor(
  noted: ReadonlyMap<number, readonly AuditAnchor[]>,
  next: number,
  { position, hash }: AuditAnchor,
): number | undefined {
  for (let inside = next; inside < position; inside++) if (noted.has(inside)) return inside
  return noted.get(position)?.some((anchor) => anchor.hash !== hash) ? position : undefined
}

/** Before the first page of a chain whose entries up to `start` were removed: an anchor of that place must have its hash. */
export function verifyStart(start: AuditAnchor, anchors: readonly AuditAnchor[]): ChainBreak | null {
  const differs = anchors.some(({ position, hash }) => position === start.position && hash !== start.hash)
  return differs
    ? { type: 'broken', from: afterLastAnchor(start.position, anchors), reason: 'rewritten' }
    : null
}

/** After the last page: every anchor must be in the chain. A chain that is longer than its anchors is sound. */
export function verifyEnd(end: AuditAnchor, anchors: readonly AuditAnchor[]): ChainBreak | null {
  const isCut = anchors.some(({ position }) => position > end.position)
  return isCut ? { type: 'broken', from: end.position + 1, reason: 'cut' } : null
}

/** Entries up to the anchor before are proved: the first that may differ follows it. */
function afterLastAnchor(position: number, anchors: readonly AuditAnchor[]): number {
  const before = anchors.filter((anchor) => anchor.position < position).map((anchor) => anchor.position)
  return Math.max(0, ...before) + 1
}
