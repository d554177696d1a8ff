import { alreadyEnded, type NewEvent, newEvent } from '../process/decision.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { ObjectEntry } from './entry.ts'
import { type FoundObject, resultName } from './found.ts'
import { type ObjectPut, type ObjectVersion, objectId } from './object.ts'

export const MERGE_POLICIES = ['results', 'all_new', 'none'] as const
/** `results`: what the process ended with. `all_new`: all that it created or changed. */
export type MergePolicy = (typeof MERGE_POLICIES)[number]

/** Names of one merge, which is one transaction. */
export const MAX_MERGED = 500

export const SKIP_REASONS = ['policy', 'same', 'goal', 'released', 'handle'] as const
/**
 * | reason   | why the name is left as it is                                      |
 * | policy   | the policy leaves it out                                           |
 * | same     | the parent has this content already                                |
 * | goal     | the goal of the process is not that of its parent                  |
 * | released | the process released it, and the parent keeps its own              |
 * | handle   | it is a handle of the process, which is not its own to give        |
 */
type SkipReason = (typeof SKIP_REASONS)[number]

export const CONFLICT_REASONS = ['changed', 'immutable', 'taken', 'read_only'] as const
/**
 * | reason    | why the parent's object is not overwritten                         |
 * | changed   | the parent has changed or released it since the fork               |
 * | immutable | it never changes                                                   |
 * | taken     | the parent has another object of this name                         |
 * | read_only | the parent may not write it                                        |
 */
type ConflictReason = (typeof CONFLICT_REASONS)[number]

export interface MergeReport {
  readonly merged: readonly { readonly name: string; readonly version: number }[]
  readonly skipped: readonly { readonly name: string; readonly reason: SkipReason }[]
  readonly conflicts: readonly { readonly name: string; readonly reason: ConflictReason }[]
}

/** A name that the ended process has written, and what its parent sees there. */
export interface MergeCandidate {
  readonly entry: ObjectEntry
  /** What the view of the process showed there before its first write: the object of its parent at the fork. */
  readonly base: ObjectVersion | null
  readonly now: FoundObject | null
  /** The last version under the name in the parent's own namespace. */
  readonly lastVersion: number
}

/** Whether an ended process may be merged into its parent. */
export function refuseMerge(parent: ProcessRecord, child: ProcessRecord): Refusal | undefined {
  if (child.parent !== parent.pid)
    return refusal(
      'denied',
      `${child.pid} is no child of ${parent.pid}, and only a parent merges it.`,
      'Let its parent merge it, or read its objects through handles.',
    )
  if (!hasEnded(child))
    return refusal(
      'not_available',
      `${child.pid} is ${child.status}, and only an ended process is merged.`,
      'Wait for its end, then merge it.',
    )
  return hasEnded(parent) ? alreadyEnded(parent) : undefined
}

/** What becomes of each name: three versions are compared, as at the fork, of the parent now, and of the ended process. */
export function decideMerge(
  parent: ProcessRecord,
  child: ProcessRecord,
  policy: MergePolicy,
  candidates: readonly MergeCandidate[],
): { readonly events: readonly NewEvent[]; readonly report: MergeReport } {
  const events: NewEvent[] = []
  const merged: MergeReport['merged'][number][] = []
  const skipped: MergeReport['skipped'][number][] = []
  const conflicts: MergeReport['conflicts'][number][] = []
  const result = resultName(child)
  for (const candidate of candidates) {
    const { entry, now, lastVersion } = candidate
    const { name } = entry
    const skip = skipReason(candidate, policy, name === result)
    if (skip !== null) {
      skipped.push({ name, reason: skip })
      continue
    }
    const conflict = conflictReason(candidate)
    if (conflict !== null) {
      conflicts.push({ name, reason: conflict })
      continue
    }
    if (entry.type !== 'object') continue
    const { oid, version } = entry.version
    const next = Math.max(lastVersion, now?.version.version ?? 0) + 1
    const put: ObjectPut = {
      ...entry.version,
      oid: objectId(parent.pid, name),
      version: next,
      by: entry.writer,
      from: { oid, version },
    }
    events.push(newEvent({ type: 'object_put', payload: put }))
    merged.push({ name, version: next })
  }
  const report = { merged, skipped, conflicts }
  const counts = { merged: merged.length, skipped: skipped.length, conflicts: conflicts.length }
  const summary = newEvent({ type: 'objects_merged', payload: { from: child.pid, policy, ...counts } })
  return { events: [...events, summary], report }
}

function skipReason(
  { entry, now }: MergeCandidate,
  policy: MergePolicy,
  isResult: boolean,
): SkipReason | null {
  if (entry.type === 'link') return 'handle'
  if (policy === 'none' || (policy === 'results' && !isResult)) return 'policy'
  if (entry.type === 'released') return 'released'
  if (entry.version.type === 'goal') return 'goal'
  return now?.version.hash === entry.version.hash && now.version.mediaType === entry.version.mediaType
    ? 'same'
    : null
}

function conflictReason({ base, now }: MergeCandidate): ConflictReason | null {
  if (now === null) return base === null ? null : 'changed'
  if (base === null) return 'taken'
  if (now.version.oid !== base.oid || now.version.version !== base.version) return 'changed'
  if (!now.version.mutable) return 'immutable'
  return now.isOwn && now.handle === undefined ? null : now.rights.includes('write') ? null : 'read_only'
}
