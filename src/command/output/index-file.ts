import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeEntry, ENTRY_BYTES, INDEX_NAME, type IndexEntry } from '../../output-log/log-format.ts'
import { orMissing } from './missing.ts'

/** The index of an output log, read lazily in blocks. */
export class IndexFile {
  readonly #file: FileHandle
  /** How many entries there were when it was opened. */
  readonly count: number
  #block: Buffer = Buffer.alloc(0)
  #blockFrom = 0

  private constructor(file: FileHandle, count: number) {
    this.#file = file
    this.count = count
  }

  /** Gives the index to `use`, and closes it afterwards. A log without one has an empty one. */
  static async with<Answer>(
    folder: string,
    use: (index: IndexFile | null) => Promise<Answer>,
  ): Promise<Answer> {
    const file = await orMissing(open(join(folder, INDEX_NAME)))
    if (file === null) return use(null)
    try {
      const { size } = await file.stat()
      return await use(new IndexFile(file, Math.floor(size / ENTRY_BYTES)))
    } finally {
      await file.close()
    }
  }

  /** Undefined behind the last entry, and for an entry of an unknown sort. */
  async at(position: number): Promise<IndexEntry | undefined> {
    if (position < 0 || position >= this.count) return undefined
    const within = position - this.#blockFrom
    if (within >= 0 && (within + 1) * ENTRY_BYTES <= this.#block.length)
      return decodeEntry(this.#block, within * ENTRY_BYTES)
    this.#blockFrom = position - (position % BLOCK_ENTRIES)
    const buffer = Buffer.alloc(BLOCK_ENTRIES * ENTRY_BYTES)
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#blockFrom * ENTRY_BYTES)
    this.#block = buffer.subarray(0, bytesRead)
    const start = (position - this.#blockFrom) * ENTRY_BYTES
    return start + ENTRY_BYTES <= bytesRead ? decodeEntry(this.#block, start) : undefined
  }

  /** The entries from one offset to another, that included. Positions can't be remembered: old entries are taken out. */
  async between(from: number, to: number): Promise<IndexEntry[]> {
    const entries: IndexEntry[] = []
    const before = await this.lastWhere(
      () => true,
      (entry) => entry.offset < from,
    )
    for (let position = before + 1; position < this.count; position++) {
      const entry = await this.at(position)
      if (entry === undefined) continue
      if (entry.offset > to) break
      entries.push(entry)
    }
    return entries
  }

  /**
   * The last entry for which `isBefore` holds; it must hold for all entries before that one, too. Other entries are skipped. -1
   * if it holds for none.
   */
  async lastWhere(
    counts: (entry: IndexEntry) => boolean,
    isBefore: (entry: IndexEntry) => boolean,
  ): Promise<number> {
    let low = 0
    let high = this.count
    let found = -1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      let at = middle
      let entry = await this.at(at)
      while (at > low && (entry === undefined || !counts(entry))) entry = await this.at(--at)
      if (entry === undefined || !counts(entry)) low = middle + 1
      else if (isBefore(entry)) {
        found = at
        low = middle + 1
      } else high = at
    }
    return found
  }
}

const BLOCK_ENTRIES = 256
