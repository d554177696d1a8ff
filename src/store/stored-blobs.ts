import { StoreError } from '../core/errors.ts'
import { checkBlob, type Soon } from './check-blob.ts'
import type { Blobs } from './contract.ts'

/** The blobs of a database. A part is one row: it is written in one step, so that no other write waits long. */
export interface BlobTable {
  /** If the whole blob is there, its age begins again. */
  renew(hash: string): Promise<boolean>
  /**
   * Stores a part, and begins the age of the blob again. The last part, which has the size of the whole, makes the blob
   * available: false if an earlier part has been swept meanwhile.
   */
  putPart(part: BlobPart): Promise<boolean>
  /** The size of the whole; null if there is no blob, or not all of its parts. */
  sizeOf(hash: string): Promise<number | null>
  part(hash: string, number: number): Promise<Uint8Array | null>
  /** The time before which a blob is of this age, by the store's clock. */
  before(ageMs: number): Promise<number>
  /** Deletes the blobs without a reference of one page, in one statement. Returns where the next page begins. */
  sweepPage(page: BlobPage): Promise<{ readonly deleted: number; readonly last: BlobKey | null }>
}

export interface BlobPart {
  readonly hash: string
  readonly number: number
  readonly bytes: Uint8Array
  readonly sizeOfWhole: number | null
}

/** The key of a blob in the order of age. */
export interface BlobKey {
  readonly putAt: number
  readonly hash: string
}

/** Blobs after a key that were put before a time: at most `limit`, and about `bytes` in all. */
export interface BlobPage {
  readonly after: BlobKey
  readonly before: number
  readonly limit: number
  readonly bytes: number
}

/** Never change it: parts of a blob that is not complete may be from another version. */
const PART_BYTES = 1024 * 1024
/** A smaller blob is sent without asking first whether it is there. */
const MIN_ASKED_BYTES = 64 * 1024
/** Only a sweep of blobs that were just put makes a second attempt necessary. */
const MAX_ATTEMPTS = 5
/** Bounds one statement of a sweep to some milliseconds. */
const SWEPT_PAGE = { limit: 500, bytes: 32 * 1024 * 1024 }

export class StoredBlobs implements Blobs {
  readonly #table: BlobTable
  readonly #soon: Soon

  constructor(table: BlobTable, soon: Soon) {
    this.#table = table
    this.#soon = soon
  }

  async put(hash: string, bytes: Uint8Array): Promise<void> {
    await checkBlob(hash, bytes, this.#soon)
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      if (bytes.length >= MIN_ASKED_BYTES && (await this.#table.renew(hash))) return
      if (await this.#putParts(hash, bytes)) return
    }
    throw new StoreError(
      'store_busy',
      `The blob ${hash} was swept each time before it was complete.`,
      'Sweep only older blobs, and put it again.',
    )
  }

  async get(hash: string): Promise<Uint8Array | null> {
    const size = await this.#table.sizeOf(hash)
    if (size === null) return null
    const bytes = new Uint8Array(size)
    for (const { from, number } of partsOf(size)) {
      if (number > 0) await new Promise<void>((resolve) => this.#soon(resolve))
      const part = await this.#table.part(hash, number)
      // Swept between two reads.
      if (part === null) return null
      bytes.set(part, from)
    }
    return bytes
  }

  async sweep(ageMs: number): Promise<number> {
    const before = await this.#table.before(ageMs)
    let after: BlobKey | null = { putAt: 0, hash: '' }
    let count = 0
    while (after !== null) {
      const { deleted, last }: Awaited<ReturnType<BlobTable['sweepPage']>> = await this.#table.sweepPage({
        after,
        before,
        ...SWEPT_PAGE,
      })
      count += deleted
      after = last
    }
    return count
  }

  async #putParts(hash: string, bytes: Uint8Array): Promise<boolean> {
    for (const { from, to, number } of partsOf(bytes.length)) {
      const sizeOfWhole = to === bytes.length ? bytes.length : null
      const isStored = await this.#table.putPart({
        hash,
        number,
        bytes: bytes.subarray(from, to),
        sizeOfWhole,
      })
      if (!isStored) return false
    }
    return true
  }
}

/** At least one, so that empty content has a part, too. */
function partsOf(size: number) {
  return Array.from({ length: Math.max(1, Math.ceil(size / PART_BYTES)) }, (_, number) => {
    const from = number * PART_BYTES
    return { number, from, to: Math.min(size, from + PART_BYTES) }
  })
}
