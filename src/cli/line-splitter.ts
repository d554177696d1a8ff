export interface SplitLine {
  readonly offset: number
  readonly text: string
}

/**
 * Splits bytes into lines, each with the offset of its first byte. Pieces need not be adjacent: the offset of a line is counted
 * from the piece that it begins in. A character that spans two pieces stays whole.
 */
export class LineSplitter {
  #kept: Buffer = Buffer.alloc(0)
  #offset = 0

  take(offset: number, bytes: Uint8Array): SplitLine[] {
    const lines: SplitLine[] = []
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      this.#keep(offset + start, bytes.subarray(start, end))
      lines.push({ offset: this.#offset, text: this.#kept.toString('utf8').replace(/\r$/, '') })
      this.#kept = Buffer.alloc(0)
      start = end + 1
    }
    this.#keep(offset + start, bytes.subarray(start))
    return lines
  }

  #keep(offset: number, bytes: Uint8Array): void {
    if (this.#kept.length === 0) this.#offset = offset
    this.#kept = Buffer.concat([this.#kept, bytes])
  }

  /** The last line, which has no newline. */
  rest(): SplitLine[] {
    const text = this.#kept.toString('utf8')
    this.#kept = Buffer.alloc(0)
    return text === '' ? [] : [{ offset: this.#offset, text }]
  }
}
