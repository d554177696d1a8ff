import { lineOf } from '../output/lines.ts'
import type { Piece } from '../output/pieces.ts'
import { LineSplitter, MAX_LINE_BYTES, NEWLINE } from '../output/split-lines.ts'
import type { SeenLine } from './watch.ts'

/**
 * Cuts pieces of a log into finished lines as they come, and passes over bytes in which nothing can be that is looked for:
 * most output is looked at no closer than that.
 */
export class LineScan {
  readonly #needles: readonly (Buffer | null)[]
  /** The line that is open, as far as it has come, and where it begins. */
  #open: Buffer = Buffer.alloc(0)
  #at: number | null = null

  /** Null stands for a pattern, which bytes cannot be searched for. */
  constructor(needles: readonly (Buffer | null)[]) {
    this.#needles = needles
  }

  /** The finished lines that may be wanted, and where the line begins that is open now. */
  add({ offset, bytes, gap }: Piece): { readonly lines: readonly SeenLine[]; readonly end: number } {
    const before = gap === null ? [] : this.end().lines
    const first = this.#open.length === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
    if (first > 0 || this.#open.length === 0) {
      const joined = this.#finish(bytes.subarray(0, first))
      const rest = bytes.subarray(first)
      const whole = rest.lastIndexOf(NEWLINE) + 1
      const from = offset + first
      const lines = this.#linesOf(rest.subarray(0, whole), from)
      // The held part must outlive the piece, and must not keep all of it.
      this.#open = Buffer.from(rest.subarray(whole))
      this.#at = from + whole
      return this.#cutOff([...before, ...joined, ...lines])
    }
    this.#open = Buffer.concat([this.#open, bytes])
    return this.#cutOff(before)
  }

  /** The line that was open, with its end: the one part of a piece that has to be copied. */
  #finish(rest: Buffer): readonly SeenLine[] {
    return rest.length === 0 ? [] : this.#linesOf(Buffer.concat([this.#open, rest]), this.#at ?? 0)
  }

  /** A line without end is looked at in parts. */
  #cutOff(lines: readonly SeenLine[]): { readonly lines: readonly SeenLine[]; readonly end: number } {
    const at = this.#at ?? 0
    if (this.#open.length <= MAX_LINE_BYTES) return { lines, end: at }
    const { lines: part, end } = this.end()
    this.#at = end
    return { lines: [...lines, ...part], end }
  }

  /** What is open is the last line. */
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

  /** Escape sequences may lie within what is looked for, so where there are some the bytes prove nothing. */
  #mayFit(bytes: Buffer): boolean {
    return this.#needles.some((needle) => needle === null || bytes.includes(needle)) || bytes.includes(ESCAPE)
  }
}

const ESCAPE = 0x1b
