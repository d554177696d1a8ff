import { checkBlob, type Soon } from '../check-blob.ts'
import type { Blobs } from '../contract.ts'
import { closedError } from '../group-commit.ts'
import type { MemoryTables } from './memory-tables.ts'

export interface MemoryBlobsOptions {
  readonly tables: MemoryTables
  readonly now: () => number
  readonly soon: Soon
  readonly isClosed: () => boolean
}

/** Copies bytes, as a disk would: no caller holds a reference into the tables. */
export class MemoryBlobs implements Blobs {
  readonly #options: MemoryBlobsOptions

  constructor(options: MemoryBlobsOptions) {
    this.#options = options
  }

  async put(hash: string, bytes: Uint8Array): Promise<void> {
    const { tables, now, soon } = this.#options
    await checkBlob(hash, bytes, soon)
    this.#refuseIfClosed()
    const stored = tables.blobs.get(hash)?.bytes ?? Uint8Array.from(bytes)
    tables.blobs.set(hash, { bytes: stored, putAt: now() })
  }

  async get(hash: string): Promise<Uint8Array | null> {
    this.#refuseIfClosed()
    const stored = this.#options.tables.blobs.get(hash)
    return stored === undefined ? null : Uint8Array.from(stored.bytes)
  }

  async sweep(ageMs: number): Promise<number> {
    this.#refuseIfClosed()
    const { tables, now } = this.#options
    const before = now() - ageMs
    const referred = new Set([...tables.blobReferences.values()].map(({ hash }) => hash))
    const swept = [...tables.blobs].filter(([hash, { putAt }]) => putAt <= before && !referred.has(hash))
    for (const [hash] of swept) tables.blobs.delete(hash)
    return swept.length
  }

  #refuseIfClosed(): void {
    if (this.#options.isClosed()) throw closedError()
  }
}
