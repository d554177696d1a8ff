import type { Gap } from './layout.ts'
import type { Masking } from './masking.ts'
import { readRange } from './read.ts'
import { type Ansi, cutText } from './text.ts'

export interface SinceOptions {
  /** Code points. */
  readonly maxChars: number
  readonly ansi: Ansi
  /** The process has ended: what is unfinished at the end of its log stays so, and is shown as it is. */
  readonly ended?: boolean
  readonly masking?: Masking | null
}

/** Text of one stretch: a gap lies before it, never within. */
export interface SinceAnswer {
  readonly text: string
  /** Offset of the first byte of `text`: the cursor, or behind the gap that lay there. */
  readonly from: number
  /** The cursor to go on with; always between two characters. */
  readonly next: number
  /** Asked again now, with `next`, there would be more. */
  readonly more: boolean
  readonly truncated: readonly Gap[]
  readonly end: number
}

/** What has been written since a byte offset, as text. Answer after answer makes up the whole of it, nothing twice. */
export async function readSince(folder: string, cursor: number, options: SinceOptions): Promise<SinceAnswer> {
  const { maxChars, ansi, ended = false, masking = null } = options
  const readBytes = Math.min(MAX_READ_BYTES, Math.max(MIN_READ_BYTES, maxChars * 4))
  const first = await readRange(folder, cursor, readBytes, masking)
  let { bytes, end } = first
  let text = ''
  let chars = 0
  let next = first.offset
  let more = false

  const cut = (final: boolean) => {
    const part = cutText(bytes, { maxChars: maxChars - chars, ansi, final })
    text += part.text
    chars += part.chars
    next += part.used
    bytes = bytes.subarray(part.used)
  }

  for (;;) {
    cut(false)
    const readTo = next + bytes.length
    if (chars >= maxChars || next - first.offset >= MAX_POLL_BYTES) {
      more = readTo < end || cutText(bytes, { maxChars: 1, ansi, final: ended }).used > 0
      break
    }
    if (readTo >= end) {
      if (ended) cut(true)
      more = ended && bytes.length > 0
      break
    }
    const chunk = await readRange(folder, readTo, readBytes, masking)
    end = chunk.end
    if (chunk.gap !== null) {
      // Nothing will ever be joined to what is held, and the gap belongs to the next answer.
      cut(true)
      more = true
      break
    }
    bytes = Buffer.concat([bytes, chunk.bytes])
  }
  return { text, from: first.offset, next, more, truncated: first.gap === null ? [] : [first.gap], end }
}

const MIN_READ_BYTES = 4 * 1024
const MAX_READ_BYTES = 64 * 1024

/** One answer reads no more than this, also where it is nearly all escape sequences. */
const MAX_POLL_BYTES = 4 * 1024 * 1024
