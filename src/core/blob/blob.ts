/** Content that is too large for an event: the bytes are in the store under their hash, and the event refers to them. */
export interface BlobRef {
  readonly type: 'blob'
  /** SHA-256, as lower-case hex. */
  readonly hash: string
  /** The size of the content. */
  readonly bytes: number
  readonly mediaType: string
}

/** Which blobs a process begins and ceases to refer to with a commit. `removed` is applied first. */
export interface BlobChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Larger than what providers of models take in one request, and small enough to be in memory several times. */
export const MAX_BLOB_BYTES = 32 * 1024 * 1024

/**
 * How long a blob without a reference stays after it was put. A commit follows its put within milliseconds, but the machine may
 * sleep in between, for a night.
 */
export const UNREFERENCED_BLOB_MS = 24 * 60 * 60_000

export function isBlobHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}
