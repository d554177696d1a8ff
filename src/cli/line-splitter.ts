export interface SplitLine {
  readonly offset: number
  readonly text: string
}

/** Bytes into lines, each with the offset of its first byte. A character that two pieces share stays whole. */
export class LineSplitter {
  #kept: Buffer = Buffer.alloc(0)
  #offset = 0

  take(offset: number, bytes: Uint8Array): SplitLine[] {
    const lines: SplitLine[] = []
    if (this.#kept.length === 0) this.#offset = offset
    this.#kept = Buffer.concat([this.#kept, bytes])
    for (let end = this.#kept.indexOf(10); end !== -1; end = this.#kept.indexOf(10)) {
      lines.push({ offset: this.#offset, text: this.#kept.toString('utf8', 0, end).replace(/\r$/, '') })
      this.#kept = this.#kept.subarray(end + 1)
      this.#offset += end + 1
    }
    return lines
  }

  /** The last one, which no newline ended. */
  rest(): SplitLine[] {
    const text = this.#kept.toString('utf8')
    this.#kept = Buffer.alloc(0)
    return text === '' ? [] : [{ offset: this.#offset, text }]
  }
}
