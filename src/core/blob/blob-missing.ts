import { ReeveError } from '../errors.ts'

/** The error of a commit that refers to blobs which are not in the store. The store works: it is no `StoreError`. */
export function blobMissing(hashes: readonly string[]): ReeveError {
  return new ReeveError(
    'blob_missing',
    `The store has no blob ${hashes.join(', ')}.`,
    'Put it again, and repeat the change. Nothing was changed.',
    { details: { hashes } },
  )
}

/** The hashes of the missing blobs, if that is the error. */
export function missingBlobs(error: unknown): readonly string[] | undefined {
  if (!(error instanceof ReeveError) || error.code !== 'blob_missing') return undefined
  const { hashes } = error.details
  return Array.isArray(hashes) ? hashes.map(String) : []
}
