import { sameJson } from '../json/canonical.ts'
import type { JsonObject } from '../json/json.ts'
import { alreadyEnded, type NewEvent, newEvent } from '../process/decision.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { type FoundObject, lacksRight, refuseName } from './found.ts'
import {
  MAX_METADATA_BYTES,
  MAX_OBJECT_TAG_CHARS,
  MAX_OBJECT_TAGS,
  type ObjectId,
  type ObjectPut,
  type ObjectType,
  type ObjectVersion,
  objectId,
  partsOf,
} from './object.ts'

/** The content of a version, which is put as a blob before. */
export interface PutRequest {
  readonly name: string
  readonly hash: string
  readonly bytes: number
  readonly mediaType: string
  /** Of a new object; a new version keeps the type of the object. */
  readonly type?: ObjectType
  readonly mutable?: boolean
  /** The version that it replaces. 0: there is none. */
  readonly expect?: number
  readonly tags?: readonly string[]
  readonly metadata?: JsonObject
}

export interface PutFacts {
  /** The process that writes. */
  readonly writer: ProcessRecord
  /** What the name stands for in its view. */
  readonly found: FoundObject | null
  /** The process whose namespace has the object, if the writer has it by a handle. */
  readonly target: ProcessRecord | null
  /** The last version under a name that was released. */
  readonly lastVersion: number
}

export type PutDecision =
  | {
      readonly type: 'append'
      readonly version: ObjectVersion
      /** Of the writer. */
      readonly events: readonly NewEvent[]
      /** Of the process of the object. */
      readonly targetEvents: readonly NewEvent[]
    }
  /** The newest version has this content already. */
  | { readonly type: 'keep'; readonly version: ObjectVersion }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/**
 * A new object, or a new version of one.
 *
 * | the name in the view           | the write                                                      |
 * | nothing                        | a new object in the own namespace                              |
 * | immutable                      | is refused, unless the content is the same                     |
 * | mutable, in the own namespace  | a new version, if the newest one is the expected one           |
 * | mutable, in a base             | a version in the own namespace, which hides that of the base   |
 * | mutable, by a handle           | a new version in the namespace of its process, if that lives   |
 */
export function decidePut({ writer, found, target, lastVersion }: PutFacts, asked: PutRequest): PutDecision {
  const { name, expect } = asked
  const unusable = hasEnded(writer) ? alreadyEnded(writer) : (refuseName(name) ?? refuseSizes(asked))
  if (unusable !== undefined) return refuse(unusable)
  if (found === null) {
    if (expect !== undefined && expect > 0) return refuse(changed(objectId(writer.pid, name), expect, 0))
    const { type, mutable = false } = asked
    if (type === undefined) return refuse(untyped(writer, name))
    const put = {
      ...contentOf(asked),
      oid: objectId(writer.pid, name),
      version: lastVersion + 1,
      type,
      mutable,
    }
    return append(put, [newEvent({ type: 'object_put', payload: put })])
  }
  const { version: now } = found
  const isSame = now.hash === asked.hash && now.mediaType === asked.mediaType && isSameNote(now, asked)
  if (isSame && (expect === undefined || expect === now.version || expect === now.version - 1))
    return { type: 'keep', version: now }
  if (!now.mutable) return refuse(immutable(now))
  if (!found.rights.includes('write')) return refuse(lacksRight(writer.pid, found, 'write'))
  if (expect !== now.version) return refuse(changed(now.oid, expect, now.version))
  if (asked.type !== undefined && asked.type !== now.type) return refuse(otherType(now, asked.type))
  const { tags = now.tags, metadata = now.metadata } = asked
  const kept = {
    ...contentOf({ ...asked, tags, metadata }),
    version: now.version + 1,
    type: now.type,
    mutable: true,
  }
  if (found.isOwn && found.handle === undefined) {
    const put = { ...kept, oid: now.oid }
    return append(put, [newEvent({ type: 'object_put', payload: put })])
  }
  if (!found.isOwn || found.handle?.live !== true) {
    const put: ObjectPut = {
      ...kept,
      oid: objectId(writer.pid, name),
      from: { oid: now.oid, version: now.version },
    }
    return append(put, [newEvent({ type: 'object_put', payload: put })])
  }
  if (target === null || hasEnded(target)) return refuse(frozen(now))
  const by = { pid: writer.pid, seq: writer.revision + 1 }
  const put: ObjectPut = { ...kept, oid: now.oid, by }
  const { oid, version, hash } = put
  return {
    type: 'append',
    version: versionOf(put),
    events: [newEvent({ type: 'object_written', payload: { oid, version, hash } })],
    targetEvents: [newEvent({ type: 'object_put', payload: put })],
  }
}

function append(put: ObjectPut, events: readonly NewEvent[]): PutDecision {
  return { type: 'append', version: versionOf(put), events, targetEvents: [] }
}

function versionOf({ by: _by, from: _from, ...version }: ObjectPut): ObjectVersion {
  return version
}

function contentOf({ hash, bytes, mediaType, tags = [], metadata = {} }: PutRequest) {
  return { hash, bytes, mediaType, tags: [...tags], metadata }
}

function isSameNote(now: ObjectVersion, { tags, metadata }: PutRequest): boolean {
  return sameJson([...now.tags], [...(tags ?? now.tags)]) && sameJson(now.metadata, metadata ?? now.metadata)
}

function refuse(no: Refusal): PutDecision {
  return { type: 'refuse', refusal: no }
}

function refuseSizes({ name, tags = [], metadata = {} }: PutRequest): Refusal | undefined {
  const isTooMany = tags.length > MAX_OBJECT_TAGS || tags.some((tag) => tag.length > MAX_OBJECT_TAG_CHARS)
  if (!isTooMany && JSON.stringify(metadata).length <= MAX_METADATA_BYTES) return undefined
  return refusal(
    'payload_too_large',
    `The tags or the metadata of ${name} are too large: up to ${MAX_OBJECT_TAGS} tags of ${MAX_OBJECT_TAG_CHARS} characters, and ${MAX_METADATA_BYTES} bytes.`,
    'Put the rest into the content.',
  )
}

function untyped({ pid }: ProcessRecord, name: string): Refusal {
  return refusal(
    'invalid_request',
    `${pid} has no object ${name} yet, and a new one needs a type.`,
    'Say which type it is, such as evidence or artifact.',
  )
}

function immutable({ oid, version }: ObjectVersion): Refusal {
  return refusal(
    'conflict',
    `${oid} is immutable, and has other content.`,
    'Put the content under another name.',
    { oid, version, mutable: false },
  )
}

function otherType({ oid, type, version }: ObjectVersion, asked: ObjectType): Refusal {
  return refusal(
    'conflict',
    `${oid} has the type ${type}, and keeps it; it cannot become ${asked}.`,
    'Put the content under another name, or leave the type out.',
    { oid, version, type },
  )
}

function changed(oid: ObjectId, expect: number | undefined, version: number): Refusal {
  const state = version === 0 ? 'does not exist' : `has version ${version}`
  const asked = expect === undefined ? 'no version was expected' : `version ${expect} was expected`
  return refusal(
    'conflict',
    `${oid} ${state}, and ${asked}.`,
    'Read it, and put it again with the version that you read as expect.',
    { oid, version, ...(expect === undefined ? {} : { expect }) },
  )
}

function frozen({ oid, version }: ObjectVersion): Refusal {
  const { pid } = partsOf(oid)
  return refusal(
    'already_ended',
    `${oid} cannot change any more: ${pid} has ended.`,
    'Put the content under a name of your own.',
    { oid, version },
  )
}
