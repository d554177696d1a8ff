import { visibleBidi } from './neutral.ts'

export interface Cell {
  readonly text: string
  readonly paint?: (text: string) => string
}

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** Cut when the line is longer than the terminal is wide; one column at most. */
  readonly flexible?: true
  /** Cut too, when little is left of the flexible one. */
  readonly shrinks?: true
}

const BETWEEN = '  '

/** Columns as wide as what is in them. `width` is the terminal's; without one nothing is cut. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  {
    width,
    paintTitle,
  }: { readonly width: number | undefined; readonly paintTitle: (text: string) => string },
): string[] {
  const shown = rows.map((row) => row.map(({ text, ...cell }) => ({ ...cell, text: onOneLine(text) })))
  const widths = columns.map(({ title }, at) =>
    shown.reduce((wide, row) => Math.max(wide, widthOf(row[at]?.text ?? '')), title.length),
  )
  fitInto(widths, columns, width)
  const titles = columns.map(({ title }) => ({ text: title, paint: paintTitle }))
  return [titles, ...shown].map((row) =>
    row
      .map(({ text, paint = (plain) => plain }: Cell, at) => {
        const wide = widths[at] ?? 0
        const cut = cutTo(text, wide)
        const blank = ' '.repeat(Math.max(0, wide - widthOf(cut)))
        if (columns[at]?.align === 'right') return blank + paint(cut)
        return at === columns.length - 1 ? paint(cut) : paint(cut) + blank
      })
      .join(BETWEEN)
      .trimEnd(),
  )
}

/** What a program named itself must not move the cursor. */
export function onOneLine(text: string): string {
  return visibleBidi(text.replaceAll(/\p{Cc}+/gu, ' '))
}

export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return `${[...text].slice(0, Math.max(0, width - 1)).join('')}…`
}

function widthOf(text: string): number {
  return [...text].length
}

/** Below this the flexible column says too little, and others give way. */
const READABLE = 20
/** And below this those do. */
const LEAST = 8

function fitInto(widths: number[], columns: readonly Column[], width: number | undefined): void {
  const flexible = columns.findIndex((column) => column.flexible === true)
  if (width === undefined || flexible === -1) return
  const tooMuch = () =>
    widths.reduce((sum, each) => sum + each, 0) + BETWEEN.length * (columns.length - 1) - width
  const shrink = (at: number, least: number) => {
    const wide = widths[at] ?? 0
    widths[at] = Math.max(Math.min(wide, least), wide - Math.max(0, tooMuch()))
  }
  const others = columns.flatMap(({ shrinks }, at) => (shrinks === true ? [at] : []))
  shrink(flexible, READABLE)
  // By one at a time, and each time the widest: it has the most to spare.
  while (tooMuch() > 0 && others.some((at) => (widths[at] ?? 0) > LEAST)) {
    const at = others.reduce((most, each) => ((widths[each] ?? 0) > (widths[most] ?? 0) ? each : most))
    widths[at] = (widths[at] ?? 0) - 1
  }
  shrink(flexible, columns[flexible]?.title.length ?? 0)
}
