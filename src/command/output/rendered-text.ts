import { escapeLength, UNFINISHED } from './escape.ts'
import { MAX_ESCAPE_BYTES } from './text.ts'
import { unitLength } from './utf8.ts'

/**
 * The text that a terminal of any height would show for a stretch of output: a carriage return goes back to the beginning of
 * the line, a backspace goes back one character, and later characters overwrite earlier ones. Escape sequences that
 * move the cursor or erase take effect, all others are dropped:
 *
 * | sequence                          | effect                                                        |
 * | `CSI n A B C D E F G`             | moves the cursor, up no further than where the stretch begins |
 * | `CSI K`, `CSI 2K`                 | erases the rest of the line, or the line                      |
 * | `CSI n P`, `CSI n @`, `CSI n X`   | deletes, inserts or erases characters                         |
 * | `CSI J`                           | erases everything behind the cursor                           |
 * | `CSI 2J`, `CSI H`                 | a new line: earlier text stays readable                       |
 */
export class RenderedText {
  readonly #most: number
  readonly #lines: string[][] = [[]]
  #row = 0
  #column = 0
  /** UTF-16 code units, with one for each line end. */
  #size = 0
  #full = false
  /** Bytes taken in, over all calls. */
  #used = 0
  /** Where the last line begins, if the cursor has not left that line since it was added. */
  #lineStart: { readonly used: number; readonly row: number; readonly size: number } | null = null

  constructor(maxChars: number) {
    this.#most = maxChars
  }

  /** There was no room for the next character. */
  get isFull(): boolean {
    return this.#full
  }

  /** How many of these bytes were taken in. The rest waits for more bytes, or finds no room. */
  add(bytes: Uint8Array, final: boolean): number {
    const before = this.#used
    let at = 0
    while (at < bytes.length) {
      this.#used = before + at
      const byte = bytes[at] ?? 0
      const used =
        byte >= 0x20 && byte < 0x7f
          ? this.#put(String.fromCharCode(byte)) && 1
          : byte === ESC || byte === C1_LEAD
            ? this.#sequence(bytes, at, final)
            : byte < 0x80
              ? this.#control(byte) && 1
              : this.#wide(bytes, at, final)
      if (used === false || used === 0) break
      at += used
    }
    this.#used = before + at
    return at
  }

  /**
   * Gives back a last line that there was no room for, so that the next text begins with it: how many bytes that are. A line
   * that takes up most of the text is kept as far as it goes.
   */
  giveBackLine(): number {
    const start = this.#lineStart
    if (!this.#full || start === null || start.row !== this.#lines.length - 1) return 0
    if (start.size < this.#size / 2) return 0
    this.#cut(start.row, 0)
    const back = this.#used - start.used
    this.#used = start.used
    return back
  }

  /** Without the blanks that erased something at the end of a line. */
  get text(): string {
    const last = this.#lines.length - 1
    return this.#lines.map((cells, row) => (row === last ? cells.join('') : withoutBlanks(cells))).join('\n')
  }

  #wide(bytes: Uint8Array, at: number, final: boolean): number | false {
    const unit = unitLength(bytes, at)
    if (unit === 0 && !final) return 0
    const used = unit === 0 ? bytes.length - at : unit
    return this.#put(decoder.decode(bytes.subarray(at, at + used))) && used
  }

  #sequence(bytes: Uint8Array, at: number, final: boolean): number | false {
    const length = escapeLength(bytes, at)
    if (length === 0) return isControl(bytes[at + 1] ?? 0) ? 2 : this.#wide(bytes, at, final)
    if (length === UNFINISHED) return final || bytes.length - at > MAX_ESCAPE_BYTES ? bytes.length - at : 0
    const isCsi = bytes[at] === ESC ? bytes[at + 1] === 0x5b : bytes[at + 1] === 0x9b
    if (!isCsi) return length
    const body = String.fromCharCode(...bytes.subarray(at + 2, at + Math.min(length, MAX_CSI_CHARS)))
    const [, digits = '', name = ''] = /^(\d*)(?:;\d*)*([@-~])$/.exec(body) ?? []
    return this.#csi(name, digits === '' ? null : Number(digits)) && length
  }

  /** False if there was no room. */
  #csi(name: string, given: number | null): boolean {
    const times = Math.min(Math.max(given ?? 1, 1), MAX_COLUMNS)
    switch (name) {
      case 'A':
      case 'F':
        this.#lineStart = null
        this.#row = Math.max(0, this.#row - times)
        if (name === 'F') this.#column = 0
        return true
      case 'B':
      case 'E':
        this.#row = Math.min(this.#lines.length - 1, this.#row + times)
        if (name === 'E') this.#column = 0
        return true
      case 'C':
        // Further to the right only as wide as terminals are: the columns between are filled with blanks.
        if (this.#column < MAX_COLUMNS) this.#column = Math.min(MAX_COLUMNS, this.#column + times)
        return true
      case 'D':
        this.#column = Math.max(0, this.#column - times)
        return true
      case 'G':
        this.#column = times - 1
        return true
      case 'K':
        if (given === null || given === 0) this.#cut(this.#row, this.#column)
        else if (given === 2) this.#cut(this.#row, 0)
        return true
      case 'P':
      case '@':
      case 'X':
        return this.#edit(name, times)
      case 'J':
        if (given === 2 || given === 3) return this.#freshLine()
        if (given !== null && given !== 0) return true
        this.#cut(this.#row, this.#column)
        while (this.#lines.length > this.#row + 1) this.#dropLast()
        return true
      case 'H':
      case 'f':
      case 'd':
        return this.#freshLine()
      default:
        return true
    }
  }

  #edit(how: 'P' | '@' | 'X', times: number): boolean {
    const cells = this.#cells
    // Line editors do this in short lines; in long ones it would take long.
    if (cells.length > MAX_EDITED || this.#column >= cells.length) return true
    const count = Math.min(times, cells.length - this.#column)
    if (how === 'P') for (const cell of cells.splice(this.#column, count)) this.#size -= cell.length
    if (how === 'X')
      for (let index = 0; index < count; index++) this.#replace(cells, this.#column + index, ' ')
    if (how !== '@') return true
    if (!this.#hasRoom(times)) return false
    cells.splice(this.#column, 0, ...Array<string>(times).fill(' '))
    this.#size += times
    return true
  }

  #control(byte: number): boolean {
    switch (byte) {
      case 0x0a:
      case 0x0b:
      case 0x0c:
        return this.#newline()
      case 0x0d:
        this.#column = 0
        return true
      case 0x08:
        this.#column = Math.max(0, this.#column - 1)
        return true
      case 0x09:
        return this.#put('\t')
      default:
        return true
    }
  }

  #newline(): boolean {
    if (this.#row < this.#lines.length - 1) {
      // A line that exists already has content from before these bytes, which could not be given back.
      this.#lineStart = null
      this.#row++
    } else {
      if (!this.#hasRoom(1)) return false
      this.#lines.push([])
      this.#size++
      this.#row++
      this.#lineStart = { used: this.#used + 1, row: this.#row, size: this.#size }
    }
    this.#column = 0
    return true
  }

  /** Below everything there is. */
  #freshLine(): boolean {
    this.#row = this.#lines.length - 1
    if (this.#cells.length > 0 && !this.#newline()) return false
    // The sequence that led here would have to be given back, too.
    this.#lineStart = null
    this.#column = 0
    return true
  }

  #put(cell: string): boolean {
    const cells = this.#cells
    const missing = this.#column - cells.length
    if (missing < 0) {
      this.#replace(cells, this.#column, cell)
    } else {
      if (!this.#hasRoom(missing + cell.length)) return false
      for (let index = 0; index < missing; index++) cells.push(' ')
      cells.push(cell)
      this.#size += missing + cell.length
    }
    this.#column++
    return true
  }

  #replace(cells: string[], column: number, cell: string): void {
    this.#size += cell.length - (cells[column]?.length ?? 0)
    cells[column] = cell
  }

  #cut(row: number, column: number): void {
    const cells = this.#lines[row] ?? []
    while (cells.length > column) this.#size -= cells.pop()?.length ?? 0
  }

  #dropLast(): void {
    this.#cut(this.#lines.length - 1, 0)
    this.#lines.pop()
    this.#size--
  }

  #hasRoom(units: number): boolean {
    // At least something is taken in, so that the reader makes progress.
    this.#full = this.#size > 0 && this.#size + units > this.#most
    return !this.#full
  }

  get #cells(): string[] {
    return this.#lines[this.#row] ?? []
  }
}

/** A line as a terminal would show it. Where that is several lines, as behind a form feed, they are joined by blanks. */
export function renderedLine(bytes: Uint8Array, final: boolean): string {
  const rendered = new RenderedText(Number.POSITIVE_INFINITY)
  rendered.add(bytes, final)
  return rendered.text.replaceAll('\n', ' ')
}

/** Whether bytes are printable ASCII and tabs, so that a terminal shows them as they are. */
export function isPlainText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x09)
}

function withoutBlanks(cells: readonly string[]): string {
  let length = cells.length
  while (length > 0 && cells[length - 1] === ' ') length--
  return cells.slice(0, length).join('')
}

/** U+0080 … U+009F behind their lead byte. */
function isControl(second: number): boolean {
  return second >= 0x80 && second <= 0x9f
}

const ESC = 0x1b
const C1_LEAD = 0xc2
const MAX_CSI_CHARS = 40
const MAX_COLUMNS = 300
const MAX_EDITED = 1_000
const decoder = new TextDecoder()
