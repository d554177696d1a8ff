import type { Colours, Paint } from '../print/colour.ts'

type Style = 'plain' | 'bold' | 'code' | 'heading' | 'block'

/** With more signs it is not a heading. */
const MAX_HEADING_SIGNS = 6
const PIECES = /```|\*\*|`|\n|#+|[^`*\n#]+|\*/g
const HEADING = /^#{1,6}$/

/**
 * Colours Markdown while it arrives in pieces: bold, code, headings and code blocks. The marks stay, so that the text can be copied. A mark
 * may be divided between two pieces: the end of a piece that could begin one waits for the next.
 */
export class MarkdownStream {
  readonly #paints: Readonly<Record<Style, Paint>>
  #style: Style = 'plain'
  #isLineStart = true
  #held = ''

  constructor({ bold, cyan, dim }: Colours) {
    this.#paints = { plain: (text) => text, bold, code: cyan, heading: bold, block: dim }
  }

  /** The text that can be printed now. */
  push(text: string): string {
    const all = this.#held + text
    this.#held = undecidedEnd(all)
    return this.#paint(all.slice(0, all.length - this.#held.length))
  }

  /** The rest, at the end of the text. */
  end(): string {
    const rest = this.#paint(this.#held)
    this.#held = ''
    this.#style = 'plain'
    this.#isLineStart = true
    return rest
  }

  #paint(text: string): string {
    const painted: string[] = []
    for (const { 0: piece, index } of text.matchAll(PIECES)) {
      const next = text[index + piece.length]
      painted.push(this.#piece(piece, next))
    }
    return painted.join('')
  }

  #piece(piece: string, next: string | undefined): string {
    const before = this.#style
    if (piece === '\n') {
      if (before !== 'block') this.#style = 'plain'
      this.#isLineStart = true
      return piece
    }
    const isMark = this.#turn(piece, next)
    this.#isLineStart = false
    return this.#paints[isMark && before !== 'plain' ? before : this.#style](piece)
  }

  /** Returns whether the piece was a mark. */
  #turn(piece: string, next: string | undefined): boolean {
    if (piece === '```') {
      this.#style = this.#style === 'block' ? 'plain' : 'block'
      return true
    }
    if (this.#style === 'block') return false
    if (piece === '`') {
      this.#style = this.#style === 'code' ? 'plain' : 'code'
      return true
    }
    if (this.#style === 'code') return false
    if (piece === '**') {
      this.#style = this.#style === 'bold' ? 'plain' : 'bold'
      return true
    }
    if (HEADING.test(piece) && this.#isLineStart && next === ' ') {
      this.#style = 'heading'
      return true
    }
    return false
  }
}

/** The end of a text whose meaning depends on the next character. Pairs of asterisks and triples of backticks are decided. */
function undecidedEnd(text: string): string {
  const run = /(?:`+|\*+|#+)$/.exec(text)?.[0] ?? ''
  if (run.startsWith('`')) return run.slice(run.length - (run.length % 3))
  if (run.startsWith('*')) return run.slice(run.length - (run.length % 2))
  return run.length > MAX_HEADING_SIGNS ? '' : run
}
