/** A longer line is cut: it is data or minified code, and would fill the model's context. */
const MAX_LINE_CHARS = 2_000

export interface LineRange {
  /** The first line, from 1. */
  readonly offset: number
  readonly limit: number
}

export interface NumberedLines {
  /** Each line with its number and a tab. */
  readonly text: string
  readonly first: number
  readonly last: number
  /** How many lines there are in all. */
  readonly total: number
}

/** The lines of a text with their numbers. The end of the last line begins no further line. */
export function numberedLines(text: string, { offset, limit }: LineRange): NumberedLines {
  const lines = linesOf(text)
  const shown = lines.slice(offset - 1, offset - 1 + limit)
  const numbered = shown.map((line, index) => `${offset + index}\t${cutLine(line)}`)
  return {
    text: numbered.join('\n'),
    first: offset,
    last: offset + shown.length - 1,
    total: lines.length,
  }
}

export function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

export function cutLine(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line
  return `${line.slice(0, MAX_LINE_CHARS)}… (${line.length - MAX_LINE_CHARS} more characters)`
}
