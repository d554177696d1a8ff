import { UNREFERENCED_BLOB_MS } from '../core/blob/blob.ts'
import { missingBlobs } from '../core/blob/blob-missing.ts'
import type { Edges } from './edges.ts'

export interface BlobContent {
  readonly hash: string
  readonly bytes: Uint8Array
}

/** Only a sweep between a put and its commit makes a second attempt necessary. */
const MAX_ATTEMPTS = 3

/** Puts the blobs, then performs the write that refers to them. If one was swept in between, it is put again. */
export async function writeWithBlobs<Answer>(
  { store }: Edges,
  contents: readonly BlobContent[],
  write: () => Promise<Answer>,
): Promise<Answer> {
  const given = new Set(contents.map(({ hash }) => hash))
  for (let attempts = 1; ; attempts++) {
    await Promise.all(contents.map(({ hash, bytes }) => store.blobs.put(hash, bytes)))
    try {
      return await write()
    } catch (error) {
      const missing = missingBlobs(error)
      if (missing === undefined || attempts === MAX_ATTEMPTS || !missing.every((hash) => given.has(hash)))
        throw error
    }
  }
}

/** Deletes the blobs that no process refers to, and gives their space back to the file system. Returns how many. */
export async function sweepBlobs({ store }: Edges): Promise<number> {
  const swept = await store.blobs.sweep(UNREFERENCED_BLOB_MS)
  if (swept > 0) while ((await store.releaseSpace?.()) === 'more');
  return swept
}
