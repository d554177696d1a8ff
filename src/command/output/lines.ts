import type { Stream } from '../../output-log/log-format.ts'
import type { Gap } from './layout.ts'
import { indexLines, type LineIndex } from './line-index.ts'
import type { Masking } from './masking.ts'
import { isPlainText, renderedLine } from './rendered-text.ts'
import type { RawLine } from './split-lines.ts'
import { refuseUntagged, streamsOf } from './streams.ts'
import { cutText, type Showing } from './text.ts'
import { truncatedBy, walkLines } from './walk-lines.ts'

export interface Line {
  /** From 0, over the retained lines: it changes when lines before it fall out of the log. */
  readonly number: number
  /** Of its first byte; this never changes. */
  readonly offset: number
  readonly text: string
  /** The stream of its first byte, if the log is tagged. */
  readonly stream?: Stream
  /** A gap lies before or behind it, so that it may have been longer. */
  readonly partial?: true
  /** The text is only the beginning of the line. */
  readonly cut?: true
}

export interface LinesOptions {
  /** The origin of `offset`. From the end, 0 gives the last lines. */
  readonly from: 'start' | 'end'
  readonly offset: number
  readonly limit: number
  readonly ansi: Showing
  /** The lines of one stream alone, as if the other had written nothing. */
  readonly stream?: Stream
  readonly ended?: boolean
  readonly masking?: Masking | null
}

export interface LinesAnswer {
  /** In the order they were written. */
  readonly lines: readonly Line[]
  /** How many are retained. */
  readonly total: number
  readonly truncated: readonly Gap[]
  /** `offset` from the start for the page behind this one, and the one before; null if there is none. */
  readonly next: number | null
  readonly previous: number | null
}

/** A page of lines. Without a log it is empty. */
export async function readLines(folder: string, options: LinesOptions): Promise<LinesAnswer> {
  if (options.stream !== undefined) await refuseUntagged(folder)
  for (let tries = 1; ; tries++) {
    const index = await indexLines(folder, options.stream ?? null)
    if (index === null) return { lines: [], total: 0, truncated: [], next: null, previous: null }
    const { raw, lost } = await readPage(folder, index, options)
    if (lost.length > 0 && tries < MAX_TRIES) continue
    const streams = await streamsOf(folder, raw, options.stream)
    const lines = raw.map((line, nth) => lineOf(line, options, streams[nth]))
    return {
      lines,
      total: index.total,
      truncated: truncatedBy(index, lost),
      ...neighbours(lines, index, options),
    }
  }
}

/** How a line is to be shown. */
interface LineShowing {
  readonly ansi: Showing
  readonly ended?: boolean
  readonly masking?: Masking | null
}

export function lineOf(raw: RawLine, showing: LineShowing, stream: Stream | undefined): Line {
  return {
    number: raw.number,
    offset: raw.offset,
    text: textOf(raw, showing),
    ...(stream === undefined ? {} : { stream }),
    ...(raw.partial ? { partial: true } : {}),
    ...(raw.cut ? { cut: true } : {}),
  }
}

export function textOf(raw: RawLine, { ansi, ended = false, masking = null }: LineShowing): string {
  // A cut line goes on, so a split character is left out with the rest of it.
  const final = !raw.cut && (!raw.open || ended)
  if (ansi === 'render') {
    const line = raw.bytes.at(-1) === CARRIAGE_RETURN ? raw.bytes.subarray(0, -1) : raw.bytes
    if (isPlainText(line)) return line.toString('latin1')
    const text = renderedLine(raw.bytes, final)
    // Overprinted text can form a secret that is nowhere in the bytes of the log.
    return masking === null ? text : masking.masker.text(text)
  }
  return cutText(raw.bytes, { maxChars: Number.POSITIVE_INFINITY, ansi, final }).text
}

const CARRIAGE_RETURN = 0x0d

/** A page that lost lines to rotation while it was read is indexed again, at most this often; then it reports the lost range. */
const MAX_TRIES = 4

/** The most that one page holds; `next` and `previous` lead to the rest. */
const MAX_PAGE_LINES = 10_000
export const MAX_PAGE_BYTES = 4 * 1024 * 1024

async function readPage(folder: string, index: LineIndex, options: LinesOptions) {
  const { from, offset, limit, stream, masking = null } = options
  const most = Math.min(limit, MAX_PAGE_LINES)
  const last = from === 'start' ? Math.min(index.total, offset + most) : Math.max(0, index.total - offset)
  const first = from === 'start' ? offset : Math.max(0, last - most)
  const raw: RawLine[] = []
  const lost: Gap[] = []
  let bytes = 0
  const start = index.entries.findLast(({ line, open }) => line < first || (line === first && !open))
  if (start === undefined || first >= last) return { raw, lost }
  for await (const step of walkLines(folder, index, start, { stream: stream ?? null, first, masking })) {
    if (step.lost !== null) lost.push(step.lost)
    for (const line of step.lines) {
      if (line.number >= last) return { raw, lost }
      if (from === 'start' && raw.length > 0 && bytes + line.bytes.length > MAX_PAGE_BYTES)
        return { raw, lost }
      // A copy: lines of a page must not keep the pieces they were read with.
      raw.push({ ...line, bytes: Buffer.from(line.bytes) })
      bytes += line.bytes.length
      while (raw.length > 1 && bytes > MAX_PAGE_BYTES) bytes -= raw.shift()?.bytes.length ?? 0
    }
  }
  return { raw, lost }
}

function neighbours(lines: readonly Line[], { total }: LineIndex, { limit }: LinesOptions) {
  const first = lines[0]?.number ?? total
  const behind = (lines.at(-1)?.number ?? total) + 1
  return {
    next: behind < total ? behind : null,
    previous: first > 0 ? Math.max(0, first - Math.min(limit, MAX_PAGE_LINES)) : null,
  }
}
