export type SplitLine =
  /** `end`: how many of the bytes that were pushed with it belong to it and the lines before. */
  | { readonly type: 'line'; readonly text: string; readonly end: number }
  /** Longer than allowed, and dropped. `excerpt`: its beginning and its end. */
  | { readonly type: 'too_long'; readonly excerpt: string; readonly end: number }

const EXCERPT_BYTES = 4_096
const LINE_FEED = 0x0a

/** Splits a stream of bytes into lines of a bounded length. */
export class LineSplitter {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0
  /** Set while a line that is too long goes on. */
  #tooLong: { readonly head: Buffer; tail: Buffer } | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  *push(bytes: Uint8Array): Generator<SplitLine> {
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let from = 0; ; ) {
      const at = given.indexOf(LINE_FEED, from)
      this.#add(at === -1 ? given.subarray(from) : given.subarray(from, at))
      if (at === -1) return
      from = at + 1
      yield this.#take(from)
    }
  }

  /** Forgets the line that has begun: bytes of it are lost. */
  clear(): void {
    this.#chunks = []
    this.#bytes = 0
    this.#tooLong = undefined
  }

  #add(bytes: Buffer): void {
    if (this.#tooLong !== undefined) {
      this.#tooLong.tail = lastOf(Buffer.concat([this.#tooLong.tail, lastOf(bytes)]))
      return
    }
    // A copy: a line must not keep the pieces that it was read with.
    this.#chunks.push(Buffer.from(bytes))
    this.#bytes += bytes.length
    if (this.#bytes <= this.#maxBytes) return
    const whole = Buffer.concat(this.#chunks)
    this.clear()
    this.#tooLong = { head: Buffer.from(whole.subarray(0, EXCERPT_BYTES)), tail: lastOf(whole) }
  }

  #take(end: number): SplitLine {
    const tooLong = this.#tooLong
    const text = tooLong === undefined ? Buffer.concat(this.#chunks).toString('utf8') : ''
    this.clear()
    if (tooLong === undefined) return { type: 'line', text, end }
    return {
      type: 'too_long',
      excerpt: `${tooLong.head.toString('utf8')}${tooLong.tail.toString('utf8')}`,
      end,
    }
  }
}

function lastOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, bytes.length - EXCERPT_BYTES)))
}
