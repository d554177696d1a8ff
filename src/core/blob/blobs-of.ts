import { isObject } from '../../base/is-object.ts'
import { isReserved, type ProcessEvent } from '../process/event.ts'
import type { BlobChanges, BlobRef } from './blob.ts'

type Event = Pick<ProcessEvent, 'type' | 'payload'>

/**
 * Events whose payload has typed parts in `parts`: entries of the session log of an agent. The payloads of all others may hold
 * values of users, and a value that looks like a reference is none.
 */
const EVENTS_WITH_PARTS: ReadonlySet<string> = new Set([
  'input_admitted',
  'input_edited',
  'notice_buffered',
  'assistant_item',
  'tool_called',
  'tool_answered',
  'system_item',
  'segment_begun',
])

/** What the process of these events refers to from their commit on; undefined if no event refers to a blob. */
export function blobChanges(events: readonly Event[]): BlobChanges | undefined {
  let added: Set<string> | undefined
  for (const event of events) {
    for (const hash of blobsOf(event)) {
      added ??= new Set()
      added.add(hash)
    }
  }
  return added === undefined ? undefined : { added: [...added], removed: [] }
}

/** The hashes of the blobs that an event refers to. */
export function blobsOf({ type, payload }: Event): readonly string[] {
  // A process may have declared a type of this name before it was reserved.
  if (!EVENTS_WITH_PARTS.has(type) || !isReserved(type) || !isObject(payload)) return NONE
  return blobsIn(payload['parts'])
}

/** The hashes of the blobs in a list of typed parts. */
export function blobsIn(parts: unknown): readonly string[] {
  return Array.isArray(parts) ? parts.filter(isBlobRef).map(({ hash }) => hash) : NONE
}

function isBlobRef(part: unknown): part is BlobRef {
  return isObject(part) && part['type'] === 'blob' && typeof part['hash'] === 'string'
}

const NONE: readonly string[] = []
