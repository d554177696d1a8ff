import { lineOf } from '../output/lines.ts'
import type { Piece } from '../output/pieces.ts'
import { LineSplitter, MAX_LINE_BYTES, NEWLINE } from '../output/split-lines.ts'
import type { SeenLine } from './watch.ts'

/**
 * Cuts pieces of a log into finished lines as they come, and skips bytes that cannot contain a wanted text: most output is
 * examined no further.
 */
export class LineScan {
  readonly #needles: readonly (Buffer | null)[]
  /** The unfinished line so far, and where it begins. */
  #open: Buffer = Buffer.alloc(0)
  #at: number | null = null

  /** Null if there is a pattern, for which bytes cannot be searched. */
  constructor(needles: readonly (Buffer | null)[]) {
    this.#needles = needles
  }

  /** The finished lines that may match, and where the unfinished line begins. */
  add({ offset, bytes, gap }: Piece): { readonly lines: readonly SeenLine[]; readonly end: number } {
    const before = gap === null ? [] : this.end().lines
    const first = this.#open.length === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
    if (first > 0 || this.#open.length === 0) {
      const joined = this.#finish(bytes.subarray(0, first))
      const rest = bytes.subarray(first)
      const whole = rest.lastIndexOf(NEWLINE) + 1
      const from = offset + first
      const lines = this.#linesOf(rest.subarray(0, whole), from)
      // A copy: a view would keep the whole piece in memory.
      this.#open = Buffer.from(rest.subarray(whole))
      this.#at = from + whole
      return this.#cutOff([...before, ...joined, ...lines])
    }
    this.#open = Buffer.concat([this.#open, bytes])
    return this.#cutOff(before)
  }

  /** Completes the unfinished line: the one part of a piece that has to be copied. */
  #finish(rest: Buffer): readonly SeenLine[] {
    return rest.length === 0 ? [] : this.#linesOf(Buffer.concat([this.#open, rest]), this.#at ?? 0)
  }

  /** A line that is too long is scanned in parts. */
  #cutOff(lines: readonly SeenLine[]): { readonly lines: readonly SeenLine[]; readonly end: number } {
    const at = this.#at ?? 0
    if (this.#open.length <= MAX_LINE_BYTES) return { lines, end: at }
    const { lines: part, end } = this.end()
    this.#at = end
    return { lines: [...lines, ...part], end }
  }

  /** The unfinished line is the last one. */
  end(): { readonly lines: readonly SeenLine[]; readonly end: number } {
    const from = this.#at ?? 0
    const lines = this.#linesOf(this.#open, from)
    const end = from + this.#open.length
    this.#open = Buffer.alloc(0)
    this.#at = null
    return { lines, end }
  }

  #linesOf(bytes: Buffer, offset: number): SeenLine[] {
    if (bytes.length === 0 || !this.#mayFit(bytes)) return []
    const splitter = new LineSplitter({ line: 0, open: false, behindGap: false }, 0)
    const raw = [...splitter.split({ offset, bytes, gap: null }), ...splitter.end()]
    return raw.map((line, index) => ({
      offset: line.offset,
      end: raw[index + 1]?.offset ?? offset + bytes.length,
      text: lineOf(line, { ansi: 'strip', ended: true }, undefined).text,
    }))
  }

  /** Escape sequences may interrupt a wanted text, so bytes with escape sequences cannot be skipped. */
  #mayFit(bytes: Buffer): boolean {
    return this.#needles.some((needle) => needle === null || bytes.includes(needle)) || bytes.includes(ESCAPE)
  }
}

const ESCAPE = 0x1b
