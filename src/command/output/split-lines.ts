import type { Piece } from './pieces.ts'

/** A line as it lies in the log. */
export interface RawLine {
  readonly number: number
  readonly offset: number
  /** Without the line end, and at most `MAX_LINE_BYTES`. */
  readonly bytes: Buffer
  /** A gap lies before or behind it, so that it may have been longer. */
  readonly partial: boolean
  readonly cut: boolean
  /** More may be written to it. */
  readonly open: boolean
}

/** Where a splitter begins. */
export interface LineStart {
  /** The number of the line that begins here, or is open here. */
  readonly line: number
  /** The bytes begin within a line: the rest of that line is skipped. */
  readonly open: boolean
  readonly behindGap: boolean
}

/**
 * Cuts pieces of a log into numbered lines. A line ends with a newline, with which a carriage return before it goes, too; at
 * a gap; or where the log ends. Holds one line at most, and of that no more than `MAX_LINE_BYTES`.
 */
export class LineSplitter {
  readonly #first: number
  #number: number
  #passesOver: boolean
  #partial: boolean
  /** The unfinished line; null if there is none. */
  #offset: number | null = null
  #parts: Buffer[] = []
  #bufferedBytes = 0
  #cut = false

  /** Lines with a smaller number than `first` are only counted. */
  constructor(start: LineStart, first = 0) {
    this.#first = first
    this.#number = start.line
    this.#passesOver = start.open
    this.#partial = start.behindGap
  }

  /** The lines that end in these bytes. They may share memory with them. */
  split(piece: Piece): RawLine[] {
    return [...this.cut(piece)]
  }

  /**
   * The same, lazily: a piece of newlines alone has as many lines as bytes. The caller must consume all lines before it calls
   * the splitter again.
   */
  *cut({ offset, bytes }: Piece): Generator<RawLine, void, void> {
    let from = 0
    for (let at = newlineFrom(bytes, 0); at !== -1; at = newlineFrom(bytes, from)) {
      this.#buffer(offset, bytes, from, at)
      const line = this.#finish('newline')
      if (line !== null) yield line
      from = at + 1
    }
    if (from < bytes.length) this.#buffer(offset, bytes, from, bytes.length)
    // A copy: a view would keep the whole piece in memory.
    this.#parts = this.#parts.map((part) => Buffer.from(part))
  }

  /** A gap follows: the unfinished line ends here, and the next line has this number. */
  breakOff(line: number): RawLine[] {
    const open = this.#offset === null ? null : this.#finish('gap')
    this.#number = line
    this.#passesOver = false
    this.#partial = true
    return open === null ? [] : [open]
  }

  /** The log ends here: the unfinished line is the last one. */
  end(): RawLine[] {
    const open = this.#offset === null ? null : this.#finish('end')
    return open === null ? [] : [open]
  }

  get #isWanted(): boolean {
    return !this.#passesOver && this.#number >= this.#first
  }

  #buffer(offset: number, bytes: Buffer, from: number, to: number): void {
    this.#offset ??= offset + from
    if (!this.#isWanted) return
    const room = MAX_LINE_BYTES - this.#bufferedBytes
    if (to - from > room) this.#cut = true
    if (to === from || room === 0) return
    const part = bytes.subarray(from, Math.min(to, from + room))
    this.#parts.push(part)
    this.#bufferedBytes += part.length
  }

  /** Null if it is only counted. */
  #finish(by: 'newline' | 'gap' | 'end'): RawLine | null {
    const line = this.#isWanted ? this.#finished(by) : null
    this.#number++
    this.#passesOver = false
    this.#partial = false
    this.#offset = null
    if (this.#parts.length > 0) this.#parts = []
    this.#bufferedBytes = 0
    this.#cut = false
    return line
  }

  #finished(by: 'newline' | 'gap' | 'end'): RawLine {
    const bytes = this.#parts.length > 1 ? Buffer.concat(this.#parts) : (this.#parts[0] ?? EMPTY)
    const isCrLf = by === 'newline' && !this.#cut && bytes.at(-1) === CARRIAGE_RETURN
    return {
      number: this.#number,
      offset: this.#offset ?? 0,
      bytes: isCrLf ? bytes.subarray(0, -1) : bytes,
      partial: this.#partial || by === 'gap',
      cut: this.#cut,
      open: by === 'end',
    }
  }
}

/** Longer lines are cut. The rest of a line can be read by its offset. */
export const MAX_LINE_BYTES = 64 * 1024

export const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const EMPTY = Buffer.alloc(0)

/** A call for each of millions of empty lines would take longer than all the rest. */
function newlineFrom(bytes: Buffer, from: number): number {
  return bytes[from] === NEWLINE ? from : bytes.indexOf(NEWLINE, from)
}
