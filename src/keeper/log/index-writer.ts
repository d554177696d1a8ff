import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ENTRY_BYTES, encodeEntry, INDEX_NAME, type IndexEntry } from '../protocol/log-format.ts'

/** Appends to the index of an output log. An entry is written before the bytes it speaks of, so readers never guess. */
export class IndexWriter {
  readonly #path: string
  readonly #entry = Buffer.alloc(ENTRY_BYTES)
  #fd: number | null = null

  constructor(folder: string) {
    this.#path = join(folder, INDEX_NAME)
  }

  write(entry: IndexEntry): void {
    this.#fd ??= openAtWholeEntry(this.#path)
    encodeEntry(entry, this.#entry, 0)
    const written = writeSync(this.#fd, this.#entry)
    if (written === ENTRY_BYTES) return
    // The disk took a part: the next try begins with whole entries again.
    this.close()
    throw Object.assign(new Error('no space left for an index entry'), { code: 'ENOSPC' })
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }
}

function openAtWholeEntry(path: string): number {
  const fd = openSync(path, 'a', 0o600)
  const { size } = fstatSync(fd)
  if (size % ENTRY_BYTES !== 0) ftruncateSync(fd, size - (size % ENTRY_BYTES))
  return fd
}
