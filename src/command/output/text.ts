import { escapeLength, mayEscape, UNFINISHED } from './escape.ts'
import { unfinishedTail, unitLength } from './utf8.ts'

/** Escape sequences stay in the text, or are taken out. */
export type Ansi = 'keep' | 'strip'
/** The same, or as a terminal would show it: with carriage returns, backspaces and erased text at their work. */
export type Showing = Ansi | 'render'

export interface CutOptions {
  /** Code points, without stripped escape sequences. */
  readonly maxChars: number
  readonly ansi: Ansi
  /** No more bytes follow: an unfinished character or escape sequence at the end stays unfinished. */
  readonly final: boolean
}

export interface CutText {
  readonly text: string
  readonly chars: number
  /** The number of bytes that the text consumed, stripped ones included. The next text begins there. */
  readonly used: number
}

/**
 * The text of these bytes, up to a number of characters; never a part of one. Invalid UTF-8 becomes U+FFFD. A
 * character or an escape sequence that is not finished waits for the bytes to come, unless they are `final`, or a sequence
 * is longer than any real one.
 */
export function cutText(bytes: Buffer, { maxChars, ansi, final }: CutOptions): CutText {
  const strips = ansi === 'strip' && mayEscape(bytes)
  if (!strips && maxChars >= bytes.length) return wholeText(bytes, final)
  let text = ''
  let chars = 0
  let at = 0
  let keptFrom = 0
  while (at < bytes.length && chars < maxChars) {
    const sequence = strips ? escapeLength(bytes, at) : 0
    if (sequence === UNFINISHED && !final && bytes.length - at <= MAX_ESCAPE_BYTES) break
    if (sequence !== 0) {
      text += bytes.toString('utf8', keptFrom, at)
      at = sequence === UNFINISHED ? bytes.length : at + sequence
      keptFrom = at
      continue
    }
    const unit = unitLength(bytes, at)
    if (unit === 0 && !final) break
    at = unit === 0 ? bytes.length : at + unit
    chars++
  }
  return { text: text + bytes.toString('utf8', keptFrom, at), chars, used: at }
}

/** A text without its escape sequences. Carriage returns and backspaces stay. */
export function stripAnsi(text: string): string {
  return cutText(Buffer.from(text), { maxChars: Number.POSITIVE_INFINITY, ansi: 'strip', final: true }).text
}

/**
 * Decodes a stream of byte chunks, cut anywhere, to text. It holds back an unfinished character (at most three bytes) or
 * escape sequence (at most `MAX_ESCAPE_BYTES`) at the end of a chunk.
 */
export class TextStream {
  readonly #ansi: Ansi
  #held: Buffer = Buffer.alloc(0)

  constructor(ansi: Ansi) {
    this.#ansi = ansi
  }

  /** How many bytes wait for those to come. */
  get heldBytes(): number {
    return this.#held.length
  }

  write(bytes: Buffer): string {
    return this.#take(bytes, false)
  }

  /** Flushes the held bytes, at the end of the log or before a gap. The next chunk begins a new text. */
  end(): string {
    return this.#take(Buffer.alloc(0), true)
  }

  #take(bytes: Buffer, final: boolean): string {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const { text, used } = cutText(all, { maxChars: Number.POSITIVE_INFINITY, ansi: this.#ansi, final })
    // A copy: a few bytes must not keep a whole chunk in memory.
    this.#held = Buffer.from(all.subarray(used))
    return text
  }
}

/** Real sequences are short, except for pictures and the clipboard: the rest of those shows as text. */
export const MAX_ESCAPE_BYTES = 4096

function wholeText(bytes: Buffer, final: boolean): CutText {
  const used = final ? bytes.length : bytes.length - unfinishedTail(bytes)
  const text = bytes.toString('utf8', 0, used)
  return { text, chars: text.length === used ? used : codePoints(text), used }
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
