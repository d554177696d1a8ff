/** A result that is no longer than this is shown whole. */
export const INLINE_LINES = 80
export const INLINE_BYTES = 12 * 1024

export type Spilled =
  | { readonly type: 'inline'; readonly text: string }
  | {
      readonly type: 'spilled'
      /** The last lines, and where the rest is. */
      readonly text: string
      readonly lines: number
      readonly bytes: number
      /** The first line that the text shows, from 1. */
      readonly shownFrom: number
    }

/**
 * What a model sees of a tool's output: all of it, or its end and a reference with which the agent reads the rest. The end of an
 * output has its errors and its summary more often than the beginning.
 */
export function spill(output: string, reference: string): Spilled {
  const lines = output.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const bytes = utf8Length(output)
  if (lines.length <= INLINE_LINES && bytes <= INLINE_BYTES) return { type: 'inline', text: output }
  const shown = lastLines(lines)
  const shownFrom = lines.length - shown.lines.length + 1
  const where = shown.isCut ? `the end of line ${shownFrom}` : `lines ${shownFrom} to ${lines.length}`
  const text = [
    `(${lines.length} lines, ${bytes} bytes; this is ${where}. Read the rest with ${reference}.)`,
    ...shown.lines,
  ].join('\n')
  return { type: 'spilled', text, lines: lines.length, bytes, shownFrom }
}

/** The last lines that fit. Of a single line that does not fit, its end. */
function lastLines(lines: readonly string[]): { readonly lines: readonly string[]; readonly isCut: boolean } {
  const shown: string[] = []
  let bytes = 0
  for (const line of lines.toReversed()) {
    bytes += utf8Length(line) + 1
    if (shown.length === INLINE_LINES || bytes > INLINE_BYTES) break
    shown.unshift(line)
  }
  if (shown.length > 0) return { lines: shown, isCut: false }
  return { lines: [endOf(lines.at(-1) ?? '')], isCut: true }
}

/** The longest end that fits, beginning with a whole character. */
function endOf(line: string): string {
  const characters = [...line.slice(-INLINE_BYTES)]
  let bytes = 0
  let from = characters.length
  while (from > 0) {
    bytes += utf8Length(characters[from - 1] ?? '')
    if (bytes > INLINE_BYTES) break
    from -= 1
  }
  return characters.slice(from).join('')
}

function utf8Length(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
