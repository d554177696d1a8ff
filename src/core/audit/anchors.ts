import type { AuditAnchor } from './chain.ts'

/** Of the newest anchors, all are kept: they prove where the chain ended. */
const NEWEST = 1_000
/** As many of the older ones, evenly spread: fewer of them only name a changed part less exactly. */
const OLDER = 1_000

/** The anchors to keep of many, in the same order. */
export function thinned<Anchor extends AuditAnchor>(anchors: readonly Anchor[]): Anchor[] {
  const older = anchors.slice(0, -NEWEST)
  const step = Math.ceil(older.length / OLDER)
  return [...older.filter((_, index) => index % step === 0), ...anchors.slice(-NEWEST)]
}
