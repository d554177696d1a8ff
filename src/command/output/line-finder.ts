import { lineOf } from './lines.ts'
import { matcherOf, type Wanted } from './pattern.ts'
import type { Piece } from './pieces.ts'
import { LineSplitter, MAX_LINE_BYTES, NEWLINE } from './split-lines.ts'

export interface FoundLine {
  readonly offset: number
  readonly text: string
}

/**
 * Finds the first line that matches, in pieces of a log as they come. An unfinished line counts: it may be a prompt. A plain text
 * is searched for among the bytes first, and lines are cut and decoded only where it may be.
 */
export class LineFinder {
  readonly #fits: (line: string) => boolean
  readonly #needle: Buffer | null
  /** The unfinished line so far. */
  #open = Buffer.alloc(0)

  constructor(wanted: Wanted) {
    this.#fits = matcherOf(wanted)
    const isPlain = wanted.text !== undefined && wanted.ignoreCase !== true
    this.#needle = isPlain ? Buffer.from(wanted.text ?? '') : null
  }

  /** Where the unfinished line begins: everything before it is scanned. Null while nothing came. */
  scannedTo: number | null = null

  /** Null if no line matches so far. */
  add(piece: Piece): FoundLine | null {
    if (piece.gap !== null) this.#open = Buffer.alloc(0)
    const held = this.#open.length
    const bytes = held === 0 ? piece.bytes : Buffer.concat([this.#open, piece.bytes])
    const found = this.#mayFit(bytes) ? this.#first(bytes, piece.offset - held) : null
    const rest = bytes.subarray(bytes.lastIndexOf(NEWLINE) + 1)
    // A line that is too long is scanned in parts that overlap by half.
    this.#open = Buffer.from(rest.length > MAX_LINE_BYTES ? rest.subarray(-MAX_LINE_BYTES / 2) : rest)
    this.scannedTo = piece.offset + piece.bytes.length - this.#open.length
    return found
  }

  /** Escape sequences may interrupt a wanted text, so bytes with escape sequences cannot be skipped. */
  #mayFit(bytes: Buffer): boolean {
    return this.#needle === null || bytes.includes(this.#needle) || bytes.includes(ESCAPE)
  }

  #first(bytes: Buffer, offset: number): FoundLine | null {
    const splitter = new LineSplitter({ line: 0, open: false, behindGap: false }, 0)
    for (const raw of [...splitter.split({ offset, bytes, gap: null }), ...splitter.end()]) {
      const line = lineOf(raw, { ansi: 'strip', ended: true }, undefined)
      if (this.#fits(line.text)) return { offset: line.offset, text: line.text }
    }
    return null
  }
}

const ESCAPE = 0x1b
