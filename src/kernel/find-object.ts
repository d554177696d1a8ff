import { type ObjectEntry, objectEntry } from '../core/object/entry.ts'
import { type FoundObject, foundIn, isInLevel, revokedHandle, withNewest } from '../core/object/found.ts'
import { type ObjectId, partsOf } from '../core/object/object.ts'
import { levelsOf, type ViewBase } from '../core/object/view.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

/** A name in the view of a process. */
export interface LookedUp {
  readonly found: FoundObject | null
  /** The last version under the name in its own namespace, also of one that was released. */
  readonly lastVersion: number
  /** The name is a handle that was revoked. */
  readonly revoked?: Refusal
}

/**
 * Looks a name up in the view of a process: its own namespace first, then each base. Each level is asked up to an event that is committed,
 * so the answer holds whenever the row of the process does. A plan asks before it writes to the process.
 */
export function* findObject(rows: WorkingRows, record: ProcessRecord, name: string): PlanPart<LookedUp> {
  let lastVersion = 0
  for (const [index, level] of levelsOf(record).entries()) {
    if (!isInLevel(name, level)) continue
    const entry = yield* entryIn(level, name)
    if (index === 0 && entry !== null) lastVersion = versionOf(entry)
    if (entry === null || isBefore(entry, level)) continue
    return { lastVersion, ...(yield* shown(rows, entry, level, index === 0)) }
  }
  return { found: null, lastVersion }
}

const PAGE = 200

export interface NameRange {
  readonly prefix: string
  readonly after: string | null
  readonly limit: number
}

/** The objects of a view in the order of their names; `next` continues the list. Revoked handles are left out. */
export function* listObjects(
  rows: WorkingRows,
  record: ProcessRecord,
  { prefix, after, limit }: NameRange,
): PlanPart<{ readonly objects: readonly FoundObject[]; readonly next: string | null }> {
  const levels = levelsOf(record)
  const objects: FoundObject[] = []
  for (let from = after; ; ) {
    const pages: (readonly ObjectEntry[])[] = []
    for (const { pid, through } of levels)
      pages.push(yield* entriesOf(pid, { prefix, after: from, through, limit: PAGE }))
    // Names behind the end of a full page are not known of its level yet.
    const ends = pages.filter(({ length }) => length === PAGE).map((page) => page.at(-1)?.name ?? '')
    const end = ends.sort()[0]
    const nearest = new Map<string, { readonly entry: ObjectEntry; readonly index: number }>()
    for (const [index, page] of pages.entries()) {
      const level = levels[index]
      for (const entry of page) {
        const isKnown = end === undefined || entry.name <= end
        if (level === undefined || !isKnown || !isInLevel(entry.name, level) || isBefore(entry, level))
          continue
        if (!nearest.has(entry.name)) nearest.set(entry.name, { entry, index })
      }
    }
    for (const name of [...nearest.keys()].sort()) {
      const { entry, index } = nearest.get(name) ?? {}
      const level = levels[index ?? 0]
      if (entry === undefined || level === undefined) continue
      const { found } = yield* shown(rows, entry, level, index === 0)
      if (found === null) continue
      if (objects.length === limit) return { objects, next: objects.at(-1)?.name ?? null }
      objects.push(found)
    }
    if (end === undefined) return { objects, next: null }
    from = end
  }
}

/** The names that a process has written itself, whatever became of them. */
export function* entriesOf(
  pid: Pid,
  range: NameRange & { readonly through: number },
): PlanPart<readonly ObjectEntry[]> {
  const events = yield* know({ ask: 'objectEvents', pid, ...range })
  return events.flatMap((event) => objectEntry(event) ?? [])
}

export function* entryIn(
  { pid, through }: Pick<ViewBase, 'pid' | 'through'>,
  name: string,
): PlanPart<ObjectEntry | null> {
  const event = yield* know({ ask: 'objectEvent', pid, name, through })
  return event === null ? null : objectEntry(event)
}

function isBefore({ seq }: ObjectEntry, { since }: ViewBase): boolean {
  return since !== undefined && seq < since
}

function versionOf(entry: ObjectEntry): number {
  if (entry.type === 'object') return entry.version.version
  return entry.type === 'released' ? entry.version : entry.link.target.version
}

function* shown(
  rows: WorkingRows,
  entry: ObjectEntry,
  level: ViewBase,
  isOwn: boolean,
): PlanPart<Pick<LookedUp, 'found' | 'revoked'>> {
  const found = foundIn(entry, level, isOwn)
  if (found === null || entry.type !== 'link') return { found }
  const { handle, chain, live, target } = entry.link
  if (yield* isRevoked(rows, level.pid, [handle, ...chain], isOwn))
    return { found: null, revoked: revokedHandle(level.pid, entry.name, handle) }
  if (!live) return { found }
  const newest = yield* newestOf(rows, target.oid, isOwn ? null : level)
  return { found: withNewest(found, newest) }
}

/** Without the root of the tree it is not known any more: a handle that may have been revoked gives no right. */
function* isRevoked(
  rows: WorkingRows,
  holder: Pid,
  handles: readonly string[],
  isOwn: boolean,
): PlanPart<boolean> {
  const revocations = yield handles.map((handle) => ({ ask: 'revocation', handle }) as const)
  if (revocations.some((revocation) => revocation !== null)) return true
  if (isOwn) return false
  const row = yield* rows.process(holder)
  return row === null || (yield* rows.process(row.record.root)) === null
}

const VERSIONS = 50

/** The newest version of an object; in a base, the newest one when the fork began. Null if its process is pruned. */
function* newestOf(rows: WorkingRows, oid: ObjectId, base: ViewBase | null): PlanPart<ObjectEntry | null> {
  const { pid, name } = partsOf(oid)
  const row = yield* rows.process(pid)
  if (row === null) return null
  const pinned = base === null ? null : yield* know({ ask: 'eventAt', pid: base.pid, seq: base.through })
  const last = pinned?.position ?? Number.POSITIVE_INFINITY
  for (let through = row.record.revision; through > 0; ) {
    const events = yield* know({ ask: 'objectVersions', pid, name, through, limit: VERSIONS })
    for (const event of events) {
      const entry = event.position > last ? null : objectEntry(event)
      if (entry?.type === 'object') return entry
    }
    through = events.length < VERSIONS ? 0 : (events.at(-1)?.seq ?? 1) - 1
  }
  return null
}
