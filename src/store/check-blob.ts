import { createHash } from 'node:crypto'
import { isBlobHash, MAX_BLOB_BYTES } from '../core/blob/blob.ts'
import { ReeveError } from '../core/errors.ts'

/** Runs a task on the next turn of the loop. */
export type Soon = (task: () => void) => void

/** Some milliseconds of hashing. */
const STEP_BYTES = 1024 * 1024

/** Throws unless the hash is that of the bytes and their size is within the limit. Other work of the loop runs in between. */
export async function checkBlob(hash: string, bytes: Uint8Array, soon: Soon): Promise<void> {
  if (!isBlobHash(hash)) throw notHash(hash)
  if (bytes.length > MAX_BLOB_BYTES)
    throw new ReeveError(
      'payload_too_large',
      `A blob of ${bytes.length} bytes is larger than the limit of ${MAX_BLOB_BYTES}.`,
      'Divide the content, or keep it in a file. Nothing was changed.',
    )
  const hashing = createHash('sha256')
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    if (from > 0) await new Promise<void>((resolve) => soon(resolve))
    hashing.update(bytes.subarray(from, from + STEP_BYTES))
  }
  const found = hashing.digest('hex')
  if (found !== hash)
    throw new ReeveError(
      'invalid_input',
      `The bytes of a blob have the hash ${found}, and not ${hash}.`,
      'Give the SHA-256 hash of the bytes. Nothing was changed.',
    )
}

function notHash(text: string): ReeveError {
  return new ReeveError(
    'invalid_input',
    `${JSON.stringify(text)} is no SHA-256 hash.`,
    'Give the hash of the bytes as 64 lower-case hex digits.',
  )
}
