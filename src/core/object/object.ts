import type { JsonObject } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor } from '../process/record.ts'

export const OBJECT_TYPES = [
  'goal',
  'plan',
  'evidence',
  'observation',
  'artifact',
  'summary',
  'error',
  'message',
  'tool_result',
  'code',
  'file_ref',
] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

export const OBJECT_RIGHTS = ['read', 'write', 'link', 'materialize', 'diff'] as const
/** What a process may do with an object in its view. */
export type ObjectRight = (typeof OBJECT_RIGHTS)[number]

/** The namespace of a process and a name in it: `p_7k3m9q2x4t8v/plan`. It identifies an object, and gives no right to it. */
export type ObjectId = `${Pid}/${string}`

/** One version of an object. Its content is a blob. */
export interface ObjectVersion {
  readonly oid: ObjectId
  /** From 1. */
  readonly version: number
  readonly type: ObjectType
  /** An immutable object has one version. */
  readonly mutable: boolean
  /** SHA-256 of the content, as lower-case hex. */
  readonly hash: string
  readonly bytes: number
  readonly mediaType: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
}

/** The process that wrote a version, and the event of its log in which it did. */
export interface ObjectWriter {
  readonly pid: Pid
  readonly seq: number
}

/** The payload of `object_put`, an event of the process whose namespace has the object. */
export interface ObjectPut extends ObjectVersion {
  /** Another process wrote it, through a handle. */
  readonly by?: ObjectWriter
  /** What it replaces in a view with a base, or was merged from. */
  readonly from?: { readonly oid: ObjectId; readonly version: number }
}

/** The payload of `object_linked`, an event of the process that gets the handle. It stays readable after its object is pruned. */
export interface ObjectLinked {
  /** The name of the handle in the view of its holder. */
  readonly name: string
  readonly handle: string
  readonly rights: readonly ObjectRight[]
  readonly from: Actor
  /** Handles that it was made from: it is revoked with each of them. */
  readonly chain: readonly string[]
  /** The version when it was given. */
  readonly target: ObjectVersion & { readonly writer: ObjectWriter; readonly at: number }
  /** It shows the newest version, and keeps the process of the object from being pruned. */
  readonly live: boolean
}

/** A handle that gives no right any more, also in every view that is restored or forked later. */
export interface Revocation {
  readonly handle: string
  /** The tree of the holder: the row is removed with its root. */
  readonly root: Pid
  readonly by: Actor
  readonly at: number
}

export const MAX_OBJECT_NAME_CHARS = 200
export const MAX_OBJECT_TAGS = 32
export const MAX_OBJECT_TAG_CHARS = 64
export const MAX_METADATA_BYTES = 4_096
/** How often a handle may be handed on. */
export const MAX_HANDLE_CHAIN = 16

/** Segments of letters, digits and `._-`, joined by slashes. */
export const OBJECT_NAME = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/

export function objectId(pid: Pid, name: string): ObjectId {
  return `${pid}/${name}`
}

/** The namespace and the name of an object. */
export function partsOf(oid: ObjectId): { readonly pid: Pid; readonly name: string } {
  const slash = oid.indexOf('/')
  return { pid: oid.slice(0, slash) as Pid, name: oid.slice(slash + 1) }
}

/** Of the event of the holder in which the handle was given. */
export function handleOf(holder: Pid, seq: number): string {
  return `h_${holder.slice(2)}_${seq}`
}

/** Where a handle was given; undefined if the text is no handle. */
export function givenAt(handle: string): { readonly pid: Pid; readonly seq: number } | undefined {
  const [, tail, seq] = /^h_(\w+)_(\d+)$/.exec(handle) ?? []
  return tail === undefined ? undefined : { pid: `p_${tail}`, seq: Number(seq) }
}
