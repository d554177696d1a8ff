/** A diff in the unified form, without the names of files. */
export interface LineDiff {
  /** Empty if nothing changes. */
  readonly text: string
  /** A part is left out: lines, or the rest of a long line. */
  readonly isCut: boolean
}

/** As much as a person reads before an answer. */
const MAX_LINES = 40
const MAX_CHARS = 4_000
/** A longer line is data or minified code. */
const MAX_LINE_CHARS = 400
/** Lines around a change. */
const CONTEXT = 3
/** Steps of the comparison: texts that differ in more are shown as removed and added as a whole. */
const MAX_CELLS = 250_000

/** The lines that differ between two texts, with those around them, as many as a person reads. */
export function lineDiff(before: string, after: string): LineDiff {
  const lines: string[] = []
  let chars = 0
  let isCut = false
  for (const line of hunksOf(changesBetween(linesIn(before), linesIn(after)))) {
    const shown = line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`.toWellFormed()
    if (lines.length === MAX_LINES || chars + shown.length > MAX_CHARS)
      return { text: lines.join('\n'), isCut: true }
    if (shown !== line) isCut = true
    lines.push(shown)
    chars += shown.length + 1
  }
  return { text: lines.join('\n'), isCut }
}

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Each line with its end, so that a missing end of the last line is a difference. */
function linesIn(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function changesBetween(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let [endBefore, endAfter] = [before.length, after.length]
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore--
    endAfter--
  }
  const same = (text: string): Line => ({ sign: ' ', text })
  return [
    ...before.slice(0, start).map(same),
    ...compared(before.slice(start, endBefore), after.slice(start, endAfter)),
    ...before.slice(endBefore).map(same),
  ]
}

/** By the longest common subsequence. */
function compared(before: readonly string[], after: readonly string[]): readonly Line[] {
  const [rows, columns] = [before.length, after.length]
  const removed = (text: string): Line => ({ sign: '-', text })
  const added = (text: string): Line => ({ sign: '+', text })
  if ((rows + 1) * (columns + 1) > MAX_CELLS) return [...before.map(removed), ...after.map(added)]
  const width = columns + 1
  const common = new Uint32Array((rows + 1) * width)
  const at = (row: number, column: number) => common[row * width + column] ?? 0
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  const lines: Line[] = []
  for (let row = 0, column = 0; row < rows || column < columns; ) {
    const [old = '', next = ''] = [before[row], after[column]]
    if (row < rows && column < columns && old === next) {
      lines.push({ sign: ' ', text: old })
      row++
      column++
    } else if (column === columns || (row < rows && at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(old))
      row++
    } else {
      lines.push(added(next))
      column++
    }
  }
  return lines
}

/** The changes with the lines around them, under headers with their places. */
function* hunksOf(lines: readonly Line[]): Generator<string, void, void> {
  const isNear = nearChanges(lines)
  let [old, next] = [1, 1]
  for (let index = 0; index < lines.length; ) {
    let end = index
    while (end < lines.length && isNear[end] === isNear[index]) end++
    const part = lines.slice(index, end)
    const [removed, added] = [
      part.filter(({ sign }) => sign !== '+').length,
      part.filter(({ sign }) => sign !== '-').length,
    ]
    if (isNear[index] === 1) {
      yield `@@ -${removed === 0 ? old - 1 : old},${removed} +${added === 0 ? next - 1 : next},${added} @@`
      for (const { sign, text } of part) {
        yield `${sign}${text.endsWith('\n') ? text.slice(0, -1) : text}`
        if (!text.endsWith('\n')) yield '\\ No newline at end of file'
      }
    }
    old += removed
    next += added
    index = end
  }
}

/** 1 for a line that changes, or is near one that does. */
function nearChanges(lines: readonly Line[]): Uint8Array {
  const near = new Uint8Array(lines.length)
  for (const [index, { sign }] of lines.entries())
    if (sign !== ' ') near.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1)
  return near
}
