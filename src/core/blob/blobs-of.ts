import { isObject } from '../../base/is-object.ts'
import type { AgentEvent } from '../agent/event.ts'
import type { ProcessEvent } from '../process/event.ts'
import type { BlobChanges, BlobRef } from './blob.ts'

type Event = Pick<ProcessEvent, 'type' | 'payload'>

/**
 * Events whose payload has typed parts in `parts`: entries of the session log of an agent. The payloads of all others may hold
 * values of users, and a value that looks like a reference is none.
 */
const EVENTS_WITH_PARTS: Readonly<Record<EventWithParts, true>> = {
  input_admitted: true,
  input_edited: true,
  notice_buffered: true,
  assistant_item: true,
  tool_called: true,
  tool_answered: true,
  system_item: true,
  segment_begun: true,
}
type EventWithParts = Extract<AgentEvent, { readonly payload: { readonly parts: unknown } }>['type']

/**
 * What the process of these events refers to from their commit on; undefined if that does not change. `replaced`: the blob of a snapshot
 * that the process has no more.
 */
export function blobChanges(events: readonly Event[], replaced?: string): BlobChanges | undefined {
  let added: Set<string> | undefined
  for (const event of events) {
    for (const hash of blobsOf(event)) {
      added ??= new Set()
      added.add(hash)
    }
  }
  if (added === undefined && replaced === undefined) return undefined
  return { added: [...(added ?? [])], removed: replaced === undefined ? [] : [replaced] }
}

/** The hashes of the blobs that an event refers to. */
export function blobsOf({ type, payload }: Event): readonly string[] {
  if (type === 'object_put') return hashIn(payload)
  if (type === 'object_linked') return isObject(payload) ? hashIn(payload['target']) : NONE
  if (type === 'parked') return isObject(payload) ? hashIn(payload['snapshot']) : NONE
  const files = FILES_IN[type]
  if (files !== undefined && isObject(payload))
    return [...blobsIn(payload['parts']), ...keptIn(payload[files])]
  return Object.hasOwn(EVENTS_WITH_PARTS, type) && isObject(payload) ? blobsIn(payload['parts']) : NONE
}

/** The content of a version of an object, or the stored state of a script. */
function hashIn(version: unknown): readonly string[] {
  return isObject(version) && typeof version['hash'] === 'string' ? [version['hash']] : NONE
}

/** The member that has the changes of files (`FileWrite`), of the events that have one. */
const FILES_IN: { readonly [type: string]: string } = {
  tool_answered: 'changes',
  files_put_back: 'files',
}

/** The contents that changes of files keep. */
function keptIn(changes: unknown): readonly string[] {
  if (!Array.isArray(changes)) return NONE
  return changes.flatMap((one) =>
    isObject(one) && one['kept'] === true && typeof one['before'] === 'string' ? [one['before']] : [],
  )
}

/** The hashes of the blobs in a list of typed parts. */
export function blobsIn(parts: unknown): readonly string[] {
  return Array.isArray(parts) ? parts.filter(isBlobRef).map(({ hash }) => hash) : NONE
}

function isBlobRef(part: unknown): part is BlobRef {
  return isObject(part) && part['type'] === 'blob' && typeof part['hash'] === 'string'
}

const NONE: readonly string[] = []
