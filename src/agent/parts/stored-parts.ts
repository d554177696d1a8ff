import { hash } from 'node:crypto'
import type { Part } from '../../core/agent/state.ts'
import type { BlobRef } from '../../core/blob/blob.ts'
import { isPartBlob, PART_MEDIA_TYPE } from '../../core/blob/part-blob.ts'
import { sizeOf } from '../../core/json/json.ts'
import type { BlobContent } from '../../kernel/blobs.ts'
import type { Blobs } from '../../store/contract.ts'

/** A part with more JSON than this is a blob: events stay small enough to be read in pages. */
const MAX_INLINE_BYTES = 16 * 1024

export interface StoredParts {
  /** As an event has them: large ones are references. */
  readonly parts: readonly Part[]
  /** To be put before the event is written, by `writeWithBlobs`. */
  readonly blobs: readonly BlobContent[]
}

/** Splits parts into the content of an event and the blobs that it refers to. */
export function storeParts(given: readonly Part[]): StoredParts {
  const blobs: BlobContent[] = []
  const parts = given.map((part) => {
    if (sizeOf(part) <= MAX_INLINE_BYTES) return part
    const bytes = Buffer.from(JSON.stringify(part))
    const ref: BlobRef = {
      type: 'blob',
      hash: hash('sha256', bytes, 'hex'),
      bytes: bytes.length,
      mediaType: PART_MEDIA_TYPE,
    }
    blobs.push({ hash: ref.hash, bytes })
    return { ...ref }
  })
  return { parts, blobs }
}

/** The parts as they were given to `storeParts`. A blob that is gone becomes a text that says so. */
export async function loadParts(blobs: Pick<Blobs, 'get'>, parts: readonly Part[]): Promise<readonly Part[]> {
  if (!parts.some(isPartBlob)) return parts
  return Promise.all(parts.map((part) => (isPartBlob(part) ? loadPart(blobs, part) : part)))
}

async function loadPart(blobs: Pick<Blobs, 'get'>, ref: Part): Promise<Part> {
  const bytes = await blobs.get(String(ref['hash']))
  if (bytes === null) return { type: 'text', text: '(This content is not in the store any more.)' }
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as Part
}
