import type { Pid } from '../process/pid.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { ObjectEntry } from './entry.ts'
import {
  MAX_OBJECT_NAME_CHARS,
  OBJECT_NAME,
  type ObjectId,
  type ObjectRight,
  type ObjectVersion,
  type ObjectWriter,
} from './object.ts'
import { isBelowRoots, rightsIn, type ViewBase } from './view.ts'

/** An object as a view shows it under a name. */
export interface FoundObject {
  readonly name: string
  /** In its own namespace, or in that of a base. */
  readonly isOwn: boolean
  readonly version: ObjectVersion
  readonly writer: ObjectWriter
  readonly at: number
  readonly rights: readonly ObjectRight[]
  /** Of an object that the process has by a handle. */
  readonly handle?: { readonly id: string; readonly chain: readonly string[]; readonly live: boolean }
}

/** What the entry of a name says in one level of a view; null if this level has no such object. */
export function foundIn(entry: ObjectEntry | null, level: ViewBase, isOwn: boolean): FoundObject | null {
  if (entry === null || entry.type === 'released') return null
  const { name, at } = entry
  const rights = rightsIn(isOwn ? 'mutable' : level.mode)
  if (entry.type === 'object')
    return { name, isOwn, version: entry.version, writer: entry.writer, at, rights }
  const { target, handle: id, chain, live } = entry.link
  const { writer, at: writtenAt, ...version } = target
  return {
    name,
    isOwn,
    version,
    writer,
    at: writtenAt,
    rights: entry.link.rights.filter((right) => rights.includes(right)),
    handle: { id, chain, live },
  }
}

/** The newest version of an object that a live handle shows. Null: its process is pruned, and the handle shows what it was given. */
export function withNewest(found: FoundObject, newest: ObjectEntry | null): FoundObject {
  if (newest?.type !== 'object') return found
  return { ...found, version: newest.version, writer: newest.writer, at: newest.at }
}

/** Whether a level of a view may have the name at all. */
export function isInLevel(name: string, { roots }: ViewBase): boolean {
  return isBelowRoots(name, roots)
}

export function refuseName(name: string): Refusal | undefined {
  if (name.length <= MAX_OBJECT_NAME_CHARS && OBJECT_NAME.test(name)) return undefined
  return refusal(
    'invalid_request',
    `${JSON.stringify(name)} is no name of an object.`,
    `Use up to ${MAX_OBJECT_NAME_CHARS} letters, digits and ._- with slashes between, as in evidence/tests.`,
  )
}

export function noObject(pid: Pid, name: string): Refusal {
  return refusal(
    'not_found',
    `The view of ${pid} has no object ${name}.`,
    'List the objects of the process to see which it has.',
    { pid, name },
  )
}

export function noVersion(oid: ObjectId, version: number, newest: number): Refusal {
  return refusal(
    'not_found',
    `${oid} has no version ${version} in this view; the newest is ${newest}.`,
    'Read its history to see which there are.',
    { oid, version, newest },
  )
}

/** A right that the view does not give. */
export function lacksRight(pid: Pid, { name, version, handle }: FoundObject, right: ObjectRight): Refusal {
  const why =
    handle === undefined ? 'its view is read-only there' : `its handle ${handle.id} does not allow it`
  return refusal(
    'denied',
    `${pid} may not ${right} ${name} (${version.oid}): ${why}.`,
    right === 'write'
      ? 'Put it under another name, or ask the process that shares it.'
      : 'Ask the process that shares it for a handle with that right.',
    { right, oid: version.oid },
  )
}

export function revokedHandle(pid: Pid, name: string, handle: string): Refusal {
  return refusal(
    'denied',
    `The handle ${handle} of ${pid} to ${name} was revoked.`,
    'Ask for another one, or go on without it.',
    { handle },
  )
}

/** Of an ended process, everything but its result is released: it stays readable until it is pruned, and is not handed on. */
export function isReleased(record: ProcessRecord, name: string): boolean {
  return hasEnded(record) && resultName(record) !== name
}

/** The name of the object that the process ended with. */
export function resultName({ pid, outcome }: ProcessRecord): string | null {
  const result = outcome?.result
  if (typeof result !== 'object' || result === null || !('object' in result)) return null
  const { object } = result
  return typeof object === 'string' && object.startsWith(`${pid}/`) ? object.slice(pid.length + 1) : null
}
