import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { decodeEntry, ENTRY_BYTES, encodeEntry, INDEX_NAME, type IndexEntry } from './log-format.ts'

/** Appends to the index of an output log. */
export class IndexWriter {
  readonly #path: string
  readonly #entry = Buffer.alloc(ENTRY_BYTES)
  #fd: number | null = null
  #bytes = 0
  #shortenAt = SHORTEN_BYTES

  constructor(folder: string) {
    this.#path = join(folder, INDEX_NAME)
  }

  prepare(): void {
    this.#open()
  }

  write(entry: IndexEntry): void {
    const fd = this.#open()
    encodeEntry(entry, this.#entry, 0)
    const written = writeSync(fd, this.#entry)
    this.#bytes += written
    if (written === ENTRY_BYTES) return
    // The disk took a part: cut back to whole entries for the next try.
    this.close()
    throw Object.assign(new Error('no space left for an index entry'), { code: 'ENOSPC' })
  }

  /** Drops the entries of bytes that were dropped from the log, once there are enough of them. */
  fellOut(from: number, to: number): void {
    if (this.#bytes < this.#shortenAt) return
    const kept = entriesWithout(readFileSync(this.#path), from, to)
    writeFileSync(`${this.#path}.new`, kept, { mode: 0o600 })
    renameSync(`${this.#path}.new`, this.#path)
    this.close()
    this.#shortenAt = Math.max(SHORTEN_BYTES, kept.length * 2)
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  #open(): number {
    if (this.#fd !== null) return this.#fd
    const fd = openSync(this.#path, 'a', 0o600)
    this.#fd = fd
    const { size } = fstatSync(fd)
    this.#bytes = size - (size % ENTRY_BYTES)
    if (this.#bytes !== size) ftruncateSync(fd, this.#bytes)
    return fd
  }
}

const SHORTEN_BYTES = 1024 * 1024

/** Keeps only the last entry of each sort within the range: it still applies where the range ends. */
function entriesWithout(index: Buffer, from: number, to: number): Buffer {
  const last = new Map<number, number>()
  const kept: number[] = []
  for (let at = 0; at + ENTRY_BYTES <= index.length; at += ENTRY_BYTES) {
    const entry = decodeEntry(index, at)
    if (entry === undefined || entry.offset < from) kept.push(at)
    else if (entry.offset < to) last.set(index[at]!, at)
    else kept.push(at)
  }
  const starts = [...kept, ...last.values()].sort((one, other) => one - other)
  return Buffer.concat(starts.map((at) => index.subarray(at, at + ENTRY_BYTES)))
}
