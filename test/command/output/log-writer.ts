import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  ENTRY_BYTES,
  encodeEntry,
  HOLES_NAME,
  INDEX_NAME,
  type IndexEntry,
  segmentName,
} from '../../../src/output-log/log-format.ts'

interface Caps {
  readonly headBytes: number
  readonly tailBytes: number
  readonly segmentBytes: number
}

/** Writes an output log as its format says, without a keeper. */
export class LogWriter {
  readonly folder: string
  readonly #caps: Caps
  readonly #tail: { offset: number; bytes: number }[] = []
  #offset = 0
  end = 0

  constructor(folder: string, caps: Partial<Caps> = {}) {
    this.folder = folder
    this.#caps = { headBytes: 1 << 18, tailBytes: 1 << 23, segmentBytes: 1 << 18, ...caps }
    mkdirSync(folder, { recursive: true })
    this.#make()
  }

  write(data: string | Buffer): this {
    const bytes = Buffer.from(data)
    for (let at = 0; at < bytes.length; ) {
      if (this.end >= this.#limit()) this.#rotate()
      const part = bytes.subarray(at, at + this.#limit() - this.end)
      appendFileSync(this.#path(this.#offset), part)
      this.end += part.length
      at += part.length
    }
    return this
  }

  note(sort: IndexEntry['sort'], value: number, offset = this.end): this {
    const entry = Buffer.alloc(ENTRY_BYTES)
    encodeEntry({ offset, sort, value }, entry, 0)
    appendFileSync(join(this.folder, INDEX_NAME), entry)
    return this
  }

  tagged(stream: 'stdout' | 'stderr', data: string): this {
    return this.note(stream, 1000).write(data)
  }

  resize(cols: number, rows: number): this {
    return this.note('size', cols * 65_536 + rows)
  }

  /** Frees a range of a log that has one segment. */
  punch(from: number, to: number): this {
    appendFileSync(join(this.folder, HOLES_NAME), `${from} ${to}\n`)
    const file = openSync(this.#path(0), 'r+')
    writeSync(file, Buffer.alloc(to - from), 0, to - from, from)
    closeSync(file)
    return this
  }

  /** Deletes the segment at an offset. */
  drop(offset: number): this {
    rmSync(this.#path(offset))
    return this
  }

  segments(): string[] {
    return readdirSync(this.folder)
      .filter((name) => /^\d+$/.test(name))
      .sort()
  }

  #limit(): number {
    const { headBytes, segmentBytes } = this.#caps
    return this.#offset < headBytes ? headBytes : this.#offset + segmentBytes
  }

  #rotate(): void {
    const { headBytes, tailBytes } = this.#caps
    if (this.#offset >= headBytes) this.#tail.push({ offset: this.#offset, bytes: this.end - this.#offset })
    this.#offset = this.end
    this.#make()
    let kept = this.#tail.reduce((sum, { bytes }) => sum + bytes, 0)
    while (kept > tailBytes) {
      const oldest = this.#tail.shift()
      if (oldest === undefined) return
      kept -= oldest.bytes
      rmSync(this.#path(oldest.offset))
    }
  }

  #make(): void {
    writeFileSync(this.#path(this.#offset), '', { flag: 'a', mode: 0o600 })
  }

  #path(offset: number): string {
    return join(this.folder, segmentName(offset))
  }
}

/** The byte that a counting log has at an offset: lines of ten, `000000042` and a newline, say where they stand. */
export function countingBytes(from: number, to: number): Buffer {
  const first = Math.floor(from / 10)
  const last = Math.ceil(to / 10)
  let text = ''
  for (let line = first; line < last; line++) text += `${String(line).padStart(9, '0')}\n`
  return Buffer.from(text).subarray(from - first * 10, to - first * 10)
}

/** Numbers from a seed, the same in each run: mulberry32. */
export function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}
