import type { ObjectEntry } from '../core/object/entry.ts'
import {
  decideMerge,
  MAX_MERGED,
  type MergeCandidate,
  type MergePolicy,
  type MergeReport,
  refuseMerge,
} from '../core/object/merge.ts'
import { levelsOf, type ViewBase } from '../core/object/view.ts'
import { fold } from '../core/process/fold.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { entriesOf, entryIn, findObject } from './find-object.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

export interface Merging {
  readonly actor: Actor
  readonly at: number
  readonly policy: MergePolicy
}

/** Merges what an ended child wrote into the view of its parent, in one transaction: both rows are compared at the commit. */
export function* mergeObjects(
  rows: WorkingRows,
  parent: ProcessRow,
  child: ProcessRow,
  { actor, at, policy }: Merging,
): PlanPart<MergeReport | Refusal> {
  const refused = refuseMerge(parent.record, child.record)
  if (refused !== undefined) return refused
  const range = { prefix: '', after: null, through: child.record.revision, limit: MAX_MERGED + 1 }
  const written = yield* entriesOf(child.record.pid, range)
  if (written.length > MAX_MERGED) return tooMany(child.record)
  const candidates: MergeCandidate[] = []
  for (const entry of written) candidates.push(yield* candidateOf(rows, parent.record, child.record, entry))
  const { events, report } = decideMerge(parent.record, child.record, policy, candidates)
  const folding = { group: null, events, lease: undefined, actor, at }
  rows.add(fold({ pid: parent.record.pid, was: parent, ...folding }).changes)
  return report
}

function* candidateOf(
  rows: WorkingRows,
  parent: ProcessRecord,
  child: ProcessRecord,
  entry: ObjectEntry,
): PlanPart<MergeCandidate> {
  const { name } = entry
  const { found: now, lastVersion } = yield* findObject(rows, parent, name)
  const [, ...bases] = levelsOf(child)
  // As the child saw it before its first write: its view without its own namespace.
  const before = bases.length === 0 ? null : yield* baseOf(bases, name)
  return { entry, base: before, now, lastVersion }
}

function* baseOf(bases: readonly ViewBase[], name: string): PlanPart<MergeCandidate['base']> {
  for (const base of bases) {
    const entry = yield* entryIn(base, name)
    if (entry === null || (base.since !== undefined && entry.seq < base.since)) continue
    if (entry.type === 'released') return null
    return entry.type === 'object' ? entry.version : entry.link.target
  }
  return null
}

function tooMany({ pid }: ProcessRecord): Refusal {
  return refusal(
    'limit_exceeded',
    `${pid} wrote more than ${MAX_MERGED} objects, which is as many as one merge takes.`,
    'Merge its result alone, or read the objects that you need through handles.',
    { limit: 'objects' },
  )
}
