import type headless from '@xterm/headless'
import type { Masker } from '../../redaction/masker.ts'

type TerminalBuffer = headless.Terminal['buffer']['active']

/** How many rows above are scanned: a key of several lines, or a long line, may begin there. */
const ROWS_BEFORE = 100

/**
 * The texts of these rows, without the blanks at their ends, and without secrets. A line that is wider than the terminal goes
 * on in the next row: for masking it is put together again. A full-screen program draws its rows itself: there, one that is full
 * goes on, too. While the program lives, more may come at the cursor: the possible beginning of a secret there is masked as well.
 */
export function maskedRows(
  buffer: TerminalBuffer,
  from: number,
  to: number,
  masker: Masker | null,
  isLive = false,
): string[] {
  const textOf = (row: number, trim: boolean) => buffer.getLine(row)?.translateToString(trim) ?? ''
  if (masker === null)
    return Array.from({ length: to - from }, (_, index) => textOf(from + index, true).trimEnd())
  const first = Math.max(0, from - ROWS_BEFORE)
  let whole = ''
  const starts: number[] = []
  for (let row = first; row < to; row++) {
    starts.push(whole.length)
    // A blank at the end of a row that goes on stands within its line.
    whole += goesOn(buffer, row) && row + 1 < to ? textOf(row, false) : `${textOf(row, true).trimEnd()}\n`
  }
  const masked = isLive
    ? openOffsets(buffer, whole, starts, first).reduce(
        (text, openAt) => masker.text(text, { lines: true, openAt }),
        whole,
      )
    : masker.text(whole, { lines: true, openAt: undefined })
  return starts.slice(from - first).map((start, index) => {
    const next = starts[from - first + index + 1] ?? masked.length
    return masked.slice(start, next).trimEnd()
  })
}

/** The cursor and the end of its line: a program may have moved back to overwrite it, or write on to the right of it. */
function openOffsets(
  buffer: TerminalBuffer,
  whole: string,
  starts: readonly number[],
  first: number,
): number[] {
  const row = buffer.baseY + buffer.cursorY
  const start = starts[row - first]
  if (start === undefined) return [whole.length]
  const before = buffer.getLine(row)?.translateToString(false, 0, buffer.cursorX) ?? ''
  const newline = whole.indexOf('\n', start)
  const end = newline === -1 ? whole.length : newline
  const cursor = Math.min(start + before.length, end)
  return cursor === end ? [end] : [cursor, end]
}

/** Whether the line of a row goes on in the next one. */
function goesOn(buffer: TerminalBuffer, row: number): boolean {
  if (buffer.getLine(row + 1)?.isWrapped === true) return true
  if (buffer.type !== 'alternate') return false
  const line = buffer.getLine(row)
  const last = line?.getCell(line.length - 1)
  return last !== undefined && last.getChars().trim() !== ''
}
