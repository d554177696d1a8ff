import type { Part } from '../core/agent/state.ts'
import { isPartBlob } from '../core/blob/part-blob.ts'
import type { Blobs } from '../store/contract.ts'

/** Larger blobs stay references. */
const MAX_BLOB_BYTES = 1024 * 1024
/** The blobs of one page. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024

/** How many bytes of blobs a page may still have. */
export interface BlobBudget {
  left: number
}

export function newBlobBudget(): BlobBudget {
  return { left: MAX_PAGE_BYTES }
}

/** The parts, with large ones as they were given. A blob that is too large, or gone, stays a reference. */
export async function partsWithBlobs(
  blobs: Pick<Blobs, 'get'>,
  parts: readonly Part[],
  budget: BlobBudget,
): Promise<readonly Part[]> {
  if (!parts.some(isPartBlob)) return parts
  const loaded: Part[] = []
  for (const part of parts) loaded.push(isPartBlob(part) ? await load(blobs, part, budget) : part)
  return loaded
}

async function load(blobs: Pick<Blobs, 'get'>, ref: Part, budget: BlobBudget): Promise<Part> {
  const bytes = Number(ref['bytes'])
  if (bytes > Math.min(MAX_BLOB_BYTES, budget.left)) return ref
  const found = await blobs.get(String(ref['hash']))
  if (found === null) return ref
  budget.left -= bytes
  return JSON.parse(new TextDecoder().decode(found)) as Part
}
