import type { Part } from '../agent/state.ts'

/** The media type of a blob that is the JSON of one part. */
export const PART_MEDIA_TYPE = 'application/vnd.reeve.part+json'

/** Whether the part is a reference to the blob that has it. */
export function isPartBlob(part: Part): boolean {
  return part.type === 'blob' && part['mediaType'] === PART_MEDIA_TYPE
}
