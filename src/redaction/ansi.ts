import { BRACKET, ESC, NEWLINE } from './characters.ts'

/**
 * Bytes without terminal escape sequences, and their offsets in the original. So a token with a colour within it is found,
 * and masked in the original without its colour sequence.
 */
export class PlainBytes {
  readonly bytes: Buffer
  /** Where an unfinished sequence at the end begins in the original; -1 if there is none. */
  readonly unfinished: number
  /** Runs of kept bytes: where each begins in the plain bytes, and in the original. */
  readonly #starts: readonly number[]
  readonly #origins: readonly number[]
  /** Runs that are a line end instead of a cursor movement; they have no byte in the original. */
  readonly #inserted: ReadonlySet<number>
  readonly #length: number

  constructor(original: Buffer) {
    const { plain, starts, origins, inserted, unfinished } = strip(original)
    this.bytes = plain
    this.unfinished = unfinished
    this.#starts = starts
    this.#origins = origins
    this.#inserted = inserted
    this.#length = original.length
  }

  /** How many plain bytes precede an offset of the original. */
  plainOffset(original: number): number {
    const run = lastAtMost(this.#origins, original)
    if (run === -1) return 0
    const start = this.#starts[run] as number
    const end = this.#starts[run + 1] ?? this.bytes.length
    return Math.min(end, start + original - (this.#origins[run] as number))
  }

  /** The offset of a plain byte in the original; the end of the original for the offset after the last. */
  originalOffset(plain: number): number {
    if (plain >= this.bytes.length) return this.#length
    const run = lastAtMost(this.#starts, plain)
    return run === -1 ? 0 : (this.#origins[run] as number) + plain - (this.#starts[run] as number)
  }

  /** Maps spans to the original, without the sequences within them. */
  originalSpans(spans: readonly number[]): number[] {
    const mapped: number[] = []
    for (let index = 0; index < spans.length; index += 2) {
      const to = spans[index + 1] as number
      for (let from = spans[index] as number; from < to; ) {
        const run = lastAtMost(this.#starts, from)
        const end = Math.min(to, this.#starts[run + 1] ?? this.bytes.length)
        const origin = (this.#origins[run] as number) + from - (this.#starts[run] as number)
        if (!this.#inserted.has(run)) mapped.push(origin, origin + end - from)
        from = Math.max(end, from + 1)
      }
    }
    return mapped
  }
}

interface Stripped {
  readonly plain: Buffer
  readonly starts: number[]
  readonly origins: number[]
  readonly inserted: ReadonlySet<number>
  readonly unfinished: number
}

function strip(original: Buffer): Stripped {
  const plain = Buffer.allocUnsafe(original.length)
  const starts: number[] = []
  const origins: number[] = []
  const inserted = new Set<number>()
  let length = 0
  let at = 0
  let unfinished = -1
  while (at < original.length) {
    const begins = original.indexOf(ESC, at)
    const end = begins === -1 ? original.length : begins
    if (end > at) {
      starts.push(length)
      origins.push(at)
      length += original.copy(plain, length, at, end)
    }
    if (begins === -1) break
    const { next, isBreak, isFinished } = sequenceAt(original, begins)
    if (!isFinished) unfinished = begins
    if (isBreak) {
      inserted.add(starts.length)
      starts.push(length)
      origins.push(next)
      plain[length++] = NEWLINE
    }
    at = next
  }
  return { plain: plain.subarray(0, length), starts, origins, inserted, unfinished }
}

interface Sequence {
  readonly next: number
  /** The next text stands elsewhere on the screen, so it does not continue the word before. */
  readonly isBreak: boolean
  readonly isFinished: boolean
}

/** A sequence with more parameter bytes is none. */
const MAX_SEQUENCE_BYTES = 64
/** Bytes that end a sequence without moving the cursor: colours, erasing, modes, reports. */
const STAYS: ReadonlySet<number> = new Set([...'mKJhlnqtpcsuXSTr'].map((final) => final.charCodeAt(0)))

/** Titles and links (`ESC ]`) keep their text, because it is shown. Only the framing bytes are removed. */
function sequenceAt(bytes: Buffer, begins: number): Sequence {
  const kind = bytes[begins + 1]
  if (kind === undefined) return { next: begins + 1, isBreak: false, isFinished: false }
  if (kind !== BRACKET) {
    // ESC ( B and the like choose a character set; ESC \ ends a title.
    const isCharset = kind >= 0x20 && kind <= 0x2f
    const isFinished = !isCharset || begins + 2 < bytes.length
    return { next: Math.min(bytes.length, begins + (isCharset ? 3 : 2)), isBreak: !isCharset, isFinished }
  }
  let at = begins + 2
  const most = Math.min(bytes.length, at + MAX_SEQUENCE_BYTES)
  while (at < most && isParameter(bytes[at] as number)) at++
  if (at >= bytes.length) return { next: bytes.length, isBreak: false, isFinished: false }
  const final = bytes[at] as number
  if (final < 0x40 || final > 0x7e) return { next: at, isBreak: true, isFinished: true }
  return { next: at + 1, isBreak: !STAYS.has(final), isFinished: true }
}

function isParameter(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x3f
}

/** The index of the last number that is at most `value`; -1 if there is none. */
function lastAtMost(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
