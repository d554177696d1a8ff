export interface SplitLine {
  readonly offset: number
  readonly text: string
}

/**
 * Bytes into lines, each with the offset of its first byte. Between two pieces others may be left out, so an offset is counted
 * from the piece that the line begins in. A character that two pieces share stays whole.
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

  /** The last one, which no newline ended. */
  rest(): SplitLine[] {
    const text = this.#kept.toString('utf8')
    this.#kept = Buffer.alloc(0)
    return text === '' ? [] : [{ offset: this.#offset, text }]
  }
}
