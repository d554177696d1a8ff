import type headless from '@xterm/headless'
import type { Masker } from '../../redaction/masker.ts'

type TerminalBuffer = headless.Terminal['buffer']['active']

/** So many rows above are looked at: a key of several lines, or a long line, may begin there. */
const ROWS_BEFORE = 100

/**
 * The texts of these rows, without the blanks at their ends, and without secrets. A line that is wider than the terminal goes
 * on in the next row: for masking it is put together again. A full-screen program draws its rows itself: there, one that is full
 * goes on, too.
 */
export function maskedRows(
  buffer: TerminalBuffer,
  from: number,
  to: number,
  masker: Masker | null,
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
  const masked = masker.text(whole, { lines: true })
  return starts.slice(from - first).map((start, index) => {
    const next = starts[from - first + index + 1] ?? masked.length
    return masked.slice(start, next).trimEnd()
  })
}

/** Whether the line of a row goes on in the next one. */
function goesOn(buffer: TerminalBuffer, row: number): boolean {
  if (buffer.getLine(row + 1)?.isWrapped === true) return true
  if (buffer.type !== 'alternate') return false
  const line = buffer.getLine(row)
  const last = line?.getCell(line.length - 1)
  return last !== undefined && last.getChars().trim() !== ''
}
