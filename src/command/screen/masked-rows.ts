import type headless from '@xterm/headless'
import type { Masker } from '../../redaction/masker.ts'

type TerminalBuffer = headless.Terminal['buffer']['active']

/** So many rows above are looked at: a key of several lines, or a long line, may begin there. */
const ROWS_BEFORE = 100

/**
 * The texts of these rows, without the blanks at their ends, and without secrets. A line that is wider than the terminal goes
 * on in the next row: for masking it is put together again, and also where a program drew it so itself, up to the last column.
 */
export function maskedRows(
  buffer: TerminalBuffer,
  from: number,
  to: number,
  masker: Masker | null,
): string[] {
  const textOf = (row: number) => buffer.getLine(row)?.translateToString(true).trimEnd() ?? ''
  if (masker === null) return Array.from({ length: to - from }, (_, index) => textOf(from + index))
  const first = Math.max(0, from - ROWS_BEFORE)
  const rows = Array.from({ length: to - first }, (_, index) => textOf(first + index))
  let whole = ''
  const starts = rows.map((text, index) => {
    const isJoined = index > 0 && goesOn(buffer, first + index)
    if (index > 0 && !isJoined) whole += '\n'
    const start = whole.length
    whole += text
    return start
  })
  const masked = masker.text(whole, { lines: true })
  return rows
    .map((text, index) => masked.slice(starts[index], (starts[index] ?? 0) + text.length))
    .slice(from - first)
}

/** Whether a row goes on with the line of the one above it. */
function goesOn(buffer: TerminalBuffer, row: number): boolean {
  if (buffer.getLine(row)?.isWrapped === true) return true
  const above = buffer.getLine(row - 1)
  const last = above?.getCell(above.length - 1)
  return last !== undefined && last.getChars().trim() !== ''
}
