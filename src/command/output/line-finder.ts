import { lineOf } from './lines.ts'
import { matcherOf, type Wanted } from './pattern.ts'
import type { Piece } from './pieces.ts'
import { LineSplitter, type RawLine } from './split-lines.ts'

export interface FoundLine {
  readonly offset: number
  readonly text: string
}

/** Finds the first line that fits, in pieces of a log as they come. */
export class LineFinder {
  readonly #fits: (line: string) => boolean
  readonly #splitter = new LineSplitter({ line: 0, open: false, behindGap: false })

  constructor(wanted: Wanted) {
    this.#fits = matcherOf(wanted)
  }

  add(piece: Piece): FoundLine | null {
    const before = piece.gap === null ? [] : this.#splitter.breakOff(0)
    return this.#first([...before, ...this.#splitter.split(piece)])
  }

  /** The log ends here: a last line without a newline is one. */
  end(): FoundLine | null {
    return this.#first(this.#splitter.end())
  }

  #first(lines: readonly RawLine[]): FoundLine | null {
    for (const raw of lines) {
      const { offset, text } = lineOf(raw, { ansi: 'strip', ended: true }, undefined)
      if (this.#fits(text)) return { offset, text }
    }
    return null
  }
}
