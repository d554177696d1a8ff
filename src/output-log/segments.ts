import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../base/error-text.ts'
import { segmentName, segmentOffset } from './log-format.ts'

/** How much of a log is kept: its first bytes and its last, in segments of this size. */
export interface SegmentCaps {
  readonly headBytes: number
  readonly tailBytes: number
  readonly segmentBytes: number
}

interface Segment {
  readonly offset: number
  readonly bytes: number
}

/**
 * The segments of one output log: a head that stays, and a tail whose oldest segments are deleted. Never more on disk than head,
 * tail and the current segment.
 */
export class Segments {
  readonly #folder: string
  readonly #caps: SegmentCaps
  readonly #fellOut: (from: number, to: number) => void
  /** The segments of the tail without the current one, oldest first. */
  readonly #tail: Segment[] = []
  #tailBytes = 0
  #offset = 0
  #end = 0
  #fd: number | null = null

  /** Continues the segments of an earlier writer. */
  constructor(folder: string, caps: SegmentCaps, fellOut: (from: number, to: number) => void) {
    this.#folder = folder
    this.#caps = caps
    this.#fellOut = fellOut
    const found = isNewFolder(folder) ? [] : foundSegments(folder)
    const last = found.pop()
    for (const segment of found) if (segment.offset >= caps.headBytes) this.#addToTail(segment)
    this.#offset = last?.offset ?? 0
    this.#end = this.#offset + (last?.bytes ?? 0)
  }

  get end(): number {
    return this.#end
  }

  /** Opens the segment for the next bytes. */
  prepare(): void {
    this.#fd ??= this.#open()
  }

  /** How many bytes the disk took, at least one; throws if it takes none. */
  write(chunk: Buffer, from: number): number {
    if (this.#end >= this.#limit()) this.#rotate()
    this.#fd ??= this.#open()
    const room = Math.min(chunk.length - from, this.#limit() - this.#end)
    const written = writeSync(this.#fd, chunk, from, room)
    this.#end += written
    return written
  }

  /** Leaves a gap of this many bytes, which were not written. */
  skip(bytes: number): void {
    if (bytes === 0) return
    this.#finish()
    if (this.#end === this.#offset) rmSync(join(this.#folder, segmentName(this.#offset)), { force: true })
    this.#end += bytes
    this.#offset = this.#end
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  #limit(): number {
    const { headBytes, segmentBytes } = this.#caps
    return this.#offset < headBytes ? headBytes : this.#offset + segmentBytes
  }

  /** Creates the next segment before it deletes an old one, so that readers never see the end of the log move backwards. */
  #rotate(): void {
    this.#finish()
    this.#offset = this.#end
    this.#fd = this.#open()
    this.#shortenTail()
  }

  /** The current segment gets no more bytes. */
  #finish(): void {
    const finished = { offset: this.#offset, bytes: this.#end - this.#offset }
    this.close()
    if (finished.bytes > 0 && finished.offset >= this.#caps.headBytes) this.#addToTail(finished)
  }

  #addToTail(segment: Segment): void {
    this.#tail.push(segment)
    this.#tailBytes += segment.bytes
  }

  #shortenTail(): void {
    let fallen: Segment | undefined
    while (this.#tailBytes > this.#caps.tailBytes && this.#tail[0] !== undefined) {
      fallen = this.#tail[0]
      rmSync(join(this.#folder, segmentName(fallen.offset)), { force: true })
      this.#tail.shift()
      this.#tailBytes -= fallen.bytes
    }
    if (fallen !== undefined) this.#fellOut(this.#caps.headBytes, fallen.offset + fallen.bytes)
  }

  #open(): number {
    return openSync(join(this.#folder, segmentName(this.#offset)), 'a', 0o600)
  }
}

/** Creates the folder if it is missing. */
function isNewFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** The length of the log in this folder; 0 if there is none. */
export function logEnd(folder: string): number {
  if (!existsSync(folder)) return 0
  const last = foundSegments(folder).pop()
  return last === undefined ? 0 : last.offset + last.bytes
}

function foundSegments(folder: string): Segment[] {
  const offsets = readdirSync(folder).map(segmentOffset)
  return offsets
    .filter((offset) => offset !== undefined)
    .sort((one, other) => one - other)
    .map((offset) => ({ offset, bytes: statSync(join(folder, segmentName(offset))).size }))
}
