import { visibilityOf } from '../core/authority/visibility.ts'
import { isBlobHash } from '../core/blob/blob.ts'
import type { Change } from '../core/change.ts'
import { RefusedError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import { decideLink } from '../core/object/decide-link.ts'
import { decidePut, type PutRequest } from '../core/object/decide-put.ts'
import { decideRelease } from '../core/object/decide-release.ts'
import { objectEntry } from '../core/object/entry.ts'
import {
  type FoundObject,
  isInLevel,
  lacksRight,
  noObject,
  noVersion,
  refuseName,
} from '../core/object/found.ts'
import type { MergePolicy, MergeReport } from '../core/object/merge.ts'
import {
  givenAt,
  type ObjectId,
  type ObjectRight,
  type ObjectVersion,
  type ObjectWriter,
  partsOf,
  type Revocation,
} from '../core/object/object.ts'
import { levelsOf, type ViewBase } from '../core/object/view.ts'
import { fold } from '../core/process/fold.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import { auditedPlan } from './audit.ts'
import { writeWithBlobs } from './blobs.ts'
import type { Edges } from './edges.ts'
import { findObject, listObjects, type NameRange } from './find-object.ts'
import { mergeObjects } from './merge-objects.ts'
import { refuseObjectAct } from './object-access.ts'
import { unknownPid } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { readPart } from './read-part.ts'
import { WorkingRows } from './working-rows.ts'

export interface Putting extends PutRequest {
  readonly content: Uint8Array
}

export interface Linking {
  readonly name: string
  readonly to: Pid
  readonly as: string
  readonly rights: readonly ObjectRight[]
  readonly live: boolean
}

export interface VersionInHistory {
  readonly version: ObjectVersion
  readonly writer: ObjectWriter
  readonly at: number
}

/** The acts on objects, each in the view of one process. */
export class Objects {
  readonly #edges: Edges

  constructor(edges: Edges) {
    this.#edges = edges
  }

  /** Puts a version. The same content again changes nothing. */
  async put(
    actor: Actor,
    pid: Pid,
    { content, ...asked }: Putting,
  ): Promise<{ readonly type: 'put' | 'kept'; readonly version: ObjectVersion }> {
    if (!isBlobHash(asked.hash)) throw new Error('A version without the hash of its content')
    const blobs = [{ hash: asked.hash, bytes: content }]
    return writeWithBlobs(this.#edges, blobs, () =>
      this.#act(actor, 'putObject', pid, { right: 'write', name: asked.name }, function* (rows, row, at) {
        const badName = refuseName(asked.name)
        if (badName !== undefined) return badName
        const writer = row.record
        const { found, lastVersion, revoked } = yield* findObject(rows, writer, asked.name)
        if (revoked !== undefined) return revoked
        const isShared = found?.isOwn === true && found.handle?.live === true
        const targetRow = isShared ? yield* rows.process(partsOf(found.version.oid).pid) : null
        const decision = decidePut({ writer, found, target: targetRow?.record ?? null, lastVersion }, asked)
        if (decision.type === 'refuse') return decision.refusal
        if (decision.type === 'keep') return { type: 'kept', version: decision.version }
        const { events, targetEvents, version } = decision
        rows.add(fold({ ...folding(row, actor, at), events }).changes)
        if (targetRow !== null && targetEvents.length > 0)
          rows.add(fold({ ...folding(targetRow, actor, at), events: targetEvents }).changes)
        return { type: 'put', version }
      }),
    )
  }

  /** An object in the view of a process, at its newest version or an earlier one. */
  get(
    actor: Actor,
    pid: Pid,
    name: string,
    { version: asked, right = 'read' }: { readonly version?: number; readonly right?: ObjectRight } = {},
  ): Promise<FoundObject> {
    return this.#read(actor, pid, { right, name }, function* (rows, { record }) {
      const found = yield* readable(rows, record, name, right)
      if (isRefusal(found) || asked === undefined || asked === found.version.version) return found
      const versions = yield* versionsOf(rows, record, found, asked)
      const old = versions.find(({ version }) => version.version === asked)
      return old === undefined
        ? noVersion(found.version.oid, asked, found.version.version)
        : { ...found, ...old }
    })
  }

  list(actor: Actor, pid: Pid, range: NameRange) {
    return this.#read(actor, pid, { right: 'read', name: null }, function* (rows, { record }) {
      return yield* listObjects(rows, record, range)
    })
  }

  /** The versions of an object that the view shows, the newest first. */
  history(actor: Actor, pid: Pid, name: string): Promise<readonly VersionInHistory[]> {
    return this.#read(actor, pid, { right: 'read', name }, function* (rows, { record }) {
      const found = yield* readable(rows, record, name, 'read')
      return isRefusal(found) ? found : yield* versionsOf(rows, record, found)
    })
  }

  /** Gives another process of the tree a handle. */
  link(
    actor: Actor,
    pid: Pid,
    { name, to, as, rights, live }: Linking,
  ): Promise<{ readonly handle: string; readonly found: FoundObject }> {
    const edges = this.#edges
    return this.#act(actor, 'linkObject', pid, { right: 'link', name }, function* (rows, row, at) {
      const giver = row.record
      const holder = yield* rows.process(to)
      if (holder === null) return yield* unknownPid(to)
      const route = { to: `process:${to}`, addressee: holder.record, sender: giver } as const
      const unreachable = edges.authorize(actor, 'signal', { type: 'message', route })
      if (unreachable !== undefined) return unreachable
      const found = yield* readable(rows, giver, name, 'link')
      if (isRefusal(found)) return found
      const { found: taken } = yield* findObject(rows, holder.record, as)
      const source = yield* rows.process(partsOf(found.version.oid).pid)
      const facts = { giver, found, source: source?.record ?? null, holder: holder.record, taken }
      const decision = decideLink(facts, { actor, as, rights, live })
      if (isRefusal(decision)) return decision
      const { event, handle } = decision
      rows.add(fold({ ...folding(holder, actor, at), events: [event] }).changes)
      const inputs = { handle, object: found.version.oid, rights: [...rights], live }
      rows.add([handleEntry({ at, actor, action: 'linkObject', pid: to }, inputs)])
      return { handle, found }
    })
  }

  /** Takes back a handle, and all that were made from it. Its giver may, and whoever acts for the process of the object. */
  async revoke(actor: Actor, handle: string): Promise<Revocation> {
    const edges = this.#edges
    const given = givenAt(handle)
    if (given === undefined) throw new RefusedError(unknownHandle(handle))
    return this.#write(actor, 'revokeObject', given.pid, function* (rows, at) {
      const holder = yield* rows.process(given.pid)
      const event = yield* know({ ask: 'eventAt', ...given })
      const entry = event === null ? null : objectEntry(event)
      if (holder === null || entry?.type !== 'link' || entry.link.handle !== handle)
        return unknownHandle(handle)
      const { from, target } = entry.link
      const refused = actor === from ? undefined : yield* refuseRevoke(edges, rows, actor, handle, target.oid)
      if (refused !== undefined) return refused
      const was = yield* know({ ask: 'revocation', handle })
      if (was !== null) return was
      const revocation = { handle, root: holder.record.root, by: actor, at }
      rows.add([
        { type: 'revocation', was, revocation },
        handleEntry({ at, actor, action: 'revokeObject', pid: given.pid }, { handle, object: target.oid }),
      ])
      return revocation
    })
  }

  release(actor: Actor, pid: Pid, name: string): Promise<FoundObject> {
    return this.#act(actor, 'releaseObject', pid, { right: 'write', name }, function* (rows, row, at) {
      const { found, revoked } = yield* findObject(rows, row.record, name)
      if (revoked !== undefined) return revoked
      const decision = decideRelease(row.record, found, name)
      if (isRefusal(decision)) return decision
      rows.add(fold({ ...folding(row, actor, at), events: [decision] }).changes)
      return found ?? noObject(pid, name)
    })
  }

  /** Merges what an ended child wrote into the view of its parent. */
  merge(actor: Actor, pid: Pid, child: Pid, policy: MergePolicy): Promise<MergeReport> {
    return this.#act(actor, 'mergeObjects', pid, { right: 'write', name: null }, function* (rows, row, at) {
      const ended = yield* rows.process(child)
      if (ended === null) return yield* unknownPid(child)
      return yield* mergeObjects(rows, row, ended, { actor, at, policy })
    })
  }

  /** An act in the view of a process that the actor may act in. */
  #act<Answer>(
    actor: Actor,
    action: string,
    pid: Pid,
    { right, name }: { readonly right: ObjectRight; readonly name: string | null },
    part: (rows: WorkingRows, row: ProcessRow, at: number) => PlanPart<Answer | Refusal>,
  ): Promise<Answer> {
    const edges = this.#edges
    return this.#write<Answer>(actor, action, pid, function* (rows, at) {
      const row = yield* rows.process(pid)
      if (row === null) return yield* unknownPid(pid)
      const denied = yield* refuseObjectAct(edges, rows, row.record, { actor, at, right, name })
      return denied ?? (yield* part(rows, row, Math.max(at, row.record.updatedAt)))
    })
  }

  /** A denied look is not in the audit. */
  async #read<Answer>(
    actor: Actor,
    pid: Pid,
    asked: { readonly right: ObjectRight; readonly name: string | null },
    part: (rows: WorkingRows, row: ProcessRow) => PlanPart<Answer | Refusal>,
  ): Promise<Answer> {
    const edges = this.#edges
    const rows = new WorkingRows()
    const reading = function* (): PlanPart<Answer | Refusal> {
      const row = yield* rows.process(pid)
      if (row === null) return yield* unknownPid(pid)
      const at = edges.clock.now()
      const denied = yield* refuseObjectAct(edges, rows, row.record, { actor, at, ...asked })
      return denied ?? (yield* part(rows, row))
    }
    const answer = await readPart(edges.store, reading())
    if (isRefusal(answer)) throw new RefusedError(answer)
    return answer
  }

  async #write<Answer>(
    actor: Actor,
    action: string,
    pid: Pid,
    part: (rows: WorkingRows, at: number) => PlanPart<Answer | Refusal>,
  ): Promise<Answer> {
    const edges = this.#edges
    const act = { at: edges.clock.now(), actor, action, target: `process:${pid}` }
    const answer = await edges.store.write(
      auditedPlan<Answer>(edges, act, function* () {
        const rows = new WorkingRows()
        const answered = yield* part(rows, act.at)
        return { answer: answered, changes: isRefusal(answered) ? [] : rows.changes }
      }),
    )
    if (isRefusal(answer)) throw new RefusedError(answer)
    return answer
  }
}

function folding(was: ProcessRow, actor: Actor, at: number) {
  return { pid: was.record.pid, was, group: null, lease: undefined, actor, at }
}

/** The object of a name, if the view gives the right. */
function* readable(
  rows: WorkingRows,
  record: ProcessRecord,
  name: string,
  right: ObjectRight,
): PlanPart<FoundObject | Refusal> {
  const { found, revoked } = yield* findObject(rows, record, name)
  if (found === null) return revoked ?? noObject(record.pid, name)
  return found.rights.includes(right) ? found : lacksRight(record.pid, found, right)
}

const MAX_HISTORY = 1_000

/** In the namespace of the object and in those that the view hides it with. A handle that is not live shows one version. */
function* versionsOf(
  rows: WorkingRows,
  record: ProcessRecord,
  found: FoundObject,
  down = 1,
): PlanPart<readonly VersionInHistory[]> {
  const { version, writer, at, handle, name } = found
  if (handle !== undefined && !handle.live) return [{ version, writer, at }]
  const versions: VersionInHistory[] = []
  const shared = handle === undefined ? null : yield* rows.process(partsOf(version.oid).pid)
  if (handle !== undefined && shared === null) return [{ version, writer, at }]
  const levels: readonly (Pick<ViewBase, 'pid' | 'through' | 'since'> & { readonly of: string })[] =
    shared === null
      ? levelsOf(record)
          .filter((level) => isInLevel(name, level))
          .map((level) => ({ ...level, of: name }))
      : [{ pid: shared.record.pid, through: shared.record.revision, of: partsOf(version.oid).name }]
  for (const { pid, through, since = 0, of } of levels) {
    const events = yield* know({ ask: 'objectVersions', pid, name: of, through, limit: MAX_HISTORY })
    for (const event of events) {
      const entry = objectEntry(event)
      if (entry?.type !== 'object' || entry.seq < since || entry.version.version > version.version) continue
      if (versions.length >= MAX_HISTORY || entry.version.version < down) return versions
      if ((versions.at(-1)?.version.version ?? Number.POSITIVE_INFINITY) <= entry.version.version) continue
      versions.push({ version: entry.version, writer: entry.writer, at: entry.at })
    }
  }
  return versions
}

/** Besides its giver, the process of the object takes a handle back, and whoever acts for that one. */
function* refuseRevoke(
  edges: Edges,
  rows: WorkingRows,
  actor: Actor,
  handle: string,
  oid: ObjectId,
): PlanPart<Refusal | undefined> {
  const { pid } = partsOf(oid)
  if (actor === `process:${pid}` || visibilityOf(actor).type === 'all') return undefined
  const source = yield* rows.process(pid)
  const isProcess = actor.startsWith('process:')
  return source === null || isProcess
    ? notYours(actor, handle)
    : edges.authorize(actor, 'write', { type: 'process', record: source.record })
}

interface HandleAct {
  readonly at: number
  readonly actor: Actor
  readonly action: 'linkObject' | 'revokeObject'
  /** The holder. */
  readonly pid: Pid
}

function handleEntry({ pid, ...act }: HandleAct, inputs: JsonObject): Change {
  const decision = act.action === 'linkObject' ? 'granted' : 'revoked'
  const target = `process:${pid}`
  return {
    type: 'audit',
    entry: { ...act, target, decision, rule: null, reason: null, inputs, trace: null },
  }
}

function unknownHandle(handle: string): Refusal {
  return refusal(
    'not_found',
    `There is no handle ${handle}.`,
    'Handles are named by the answer of the act that gave them, and begin with h_.',
    { handle },
  )
}

function notYours(actor: Actor, handle: string): Refusal {
  return refusal(
    'denied',
    `${actor} may not revoke ${handle}: it did not give it, and the object is not its own.`,
    'Ask the process that gave the handle.',
    { subject: actor, handle },
  )
}
