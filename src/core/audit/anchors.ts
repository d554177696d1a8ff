import type { AuditAnchor } from './chain.ts'

/** An anchor outside of the store. */
export interface NotedAnchor extends AuditAnchor {
  /** The entries up to it were removed: the chain began after it. */
  readonly isStart?: true
}

/** Of the newest anchors, all are kept: they prove where the chain ended. */
const NEWEST = 1_000
/** As many of the older ones, evenly spread: fewer of them only name a changed part less exactly. */
const OLDER = 1_000

/** The anchors to keep of many, in the same order. The latest start is one of them. */
export function thinned<Anchor extends NotedAnchor>(anchors: readonly Anchor[]): Anchor[] {
  const older = anchors.slice(0, -NEWEST)
  const step = Math.ceil(older.length / OLDER)
  const start = anchors.findLast(({ isStart }) => isStart)
  return [
    ...older.filter((anchor, index) => index % step === 0 || anchor === start),
    ...anchors.slice(-NEWEST),
  ]
}
