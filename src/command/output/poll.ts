import type { Gap } from './layout.ts'
import type { Masking } from './masking.ts'
import { readRange } from './read.ts'
import { RenderedText } from './rendered-text.ts'
import { cutText, type Showing } from './text.ts'

export interface SinceOptions {
  /** Code points; of text that is rendered, UTF-16 code units. */
  readonly maxChars: number
  readonly ansi: Showing
  /** The process has ended: an unfinished character or sequence at the end of its log is shown as it is. */
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
  /** There is more already, from `next` on. */
  readonly more: boolean
  readonly truncated: readonly Gap[]
  readonly end: number
}

/** The output since a byte offset, as text. Consecutive answers give all of it, nothing twice. */
export async function readSince(folder: string, cursor: number, options: SinceOptions): Promise<SinceAnswer> {
  const { maxChars, ansi, ended = false, masking = null } = options
  const readBytes = Math.min(MAX_READ_BYTES, Math.max(MIN_READ_BYTES, maxChars * 4))
  const first = await readRange(folder, cursor, readBytes, masking)
  let { bytes, end } = first
  const text = ansi === 'render' ? renderedTo(maxChars) : cutTo(maxChars, ansi)
  const one = { maxChars: 1, ansi: ansi === 'render' ? 'strip' : ansi } as const
  let next = first.offset
  let more = false

  const take = (final: boolean) => {
    const used = text.add(bytes, final)
    next += used
    bytes = bytes.subarray(used)
  }

  for (;;) {
    take(false)
    const readTo = next + bytes.length
    if (text.isFull || next - first.offset >= MAX_POLL_BYTES) {
      more = readTo < end || cutText(bytes, { ...one, final: ended }).used > 0
      next -= text.giveBackLine()
      break
    }
    if (readTo >= end) {
      if (ended) take(true)
      more = ended && bytes.length > 0
      break
    }
    const chunk = await readRange(folder, readTo, readBytes, masking)
    end = chunk.end
    if (chunk.gap !== null) {
      // The held bytes stay incomplete, and the gap belongs to the next answer.
      take(true)
      more = true
      break
    }
    bytes = Buffer.concat([bytes, chunk.bytes])
  }
  const truncated = first.gap === null ? [] : [first.gap]
  // Overprinted text can form a secret that is nowhere in the bytes of the log.
  const shown = ansi === 'render' && masking !== null ? masking.masker.text(text.text) : text.text
  return { text: shown, from: first.offset, next, more, truncated, end }
}

/** Text that is put together from bytes as they come, up to a size. */
interface GrowingText {
  /** How many of the bytes were taken in. */
  add(bytes: Buffer, final: boolean): number
  readonly isFull: boolean
  /** How many bytes of the last line are left to the next answer. */
  giveBackLine(): number
  readonly text: string
}

function renderedTo(maxChars: number): GrowingText {
  return new RenderedText(maxChars)
}

function cutTo(maxChars: number, ansi: Exclude<Showing, 'render'>): GrowingText {
  let text = ''
  let chars = 0
  return {
    add(bytes, final) {
      const part = cutText(bytes, { maxChars: maxChars - chars, ansi, final })
      text += part.text
      chars += part.chars
      return part.used
    },
    get isFull() {
      return chars >= maxChars
    },
    giveBackLine: () => 0,
    get text() {
      return text
    },
  }
}

const MIN_READ_BYTES = 4 * 1024
const MAX_READ_BYTES = 64 * 1024

/** The limit of one answer, even if nearly all bytes are escape sequences. */
const MAX_POLL_BYTES = 4 * 1024 * 1024
