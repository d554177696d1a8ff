import { cutTo, displayWidth } from './display-width.ts'
import { visibleBidi } from './neutral.ts'

export interface Cell {
  readonly text: string
  readonly paint?: (text: string) => string
}

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** Cut first when the table is wider than the terminal; one column at most. */
  readonly flexible?: true
  /** Cut next, when little is left of the flexible column. */
  readonly shrinks?: true
}

const BETWEEN = '  '

/** The lines of a table. Columns are as wide as their widest cell; without a terminal `width` nothing is cut. */
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
    shown.reduce((wide, row) => Math.max(wide, displayWidth(row[at]?.text ?? '')), displayWidth(title)),
  )
  fitInto(widths, columns, width)
  const titles = columns.map(({ title }) => ({ text: title, paint: paintTitle }))
  return [titles, ...shown].map((row) =>
    row
      .map(({ text, paint = (plain) => plain }: Cell, at) => {
        const wide = widths[at] ?? 0
        const cut = cutTo(text, wide)
        const blank = ' '.repeat(Math.max(0, wide - displayWidth(cut)))
        if (columns[at]?.align === 'right') return blank + paint(cut)
        return at === columns.length - 1 ? paint(cut) : paint(cut) + blank
      })
      .join(BETWEEN)
      .trimEnd(),
  )
}

/** The text without line breaks and control characters: a name that a program chose must not move the cursor. */
export function onOneLine(text: string): string {
  return visibleBidi(text.replaceAll(/\p{Cc}+/gu, ' '))
}

/** Below this width the flexible column says too little, and the columns that shrink give way. */
const MIN_FLEXIBLE = 20
/** The columns that shrink stop here. */
const MIN_SHRUNK = 8

function fitInto(widths: number[], columns: readonly Column[], width: number | undefined): void {
  const flexible = columns.findIndex((column) => column.flexible === true)
  if (width === undefined || flexible === -1) return
  const excess = () =>
    widths.reduce((sum, each) => sum + each, 0) + BETWEEN.length * (columns.length - 1) - width
  const shrink = (at: number, least: number) => {
    const wide = widths[at] ?? 0
    widths[at] = Math.max(Math.min(wide, least), wide - Math.max(0, excess()))
  }
  const others = columns.flatMap(({ shrinks }, at) => (shrinks === true ? [at] : []))
  shrink(flexible, MIN_FLEXIBLE)
  // One column of the terminal at a time, from the widest: it has the most to spare.
  while (excess() > 0 && others.some((at) => (widths[at] ?? 0) > MIN_SHRUNK)) {
    const at = others.reduce((most, each) => ((widths[each] ?? 0) > (widths[most] ?? 0) ? each : most))
    widths[at] = (widths[at] ?? 0) - 1
  }
  shrink(flexible, columns[flexible]?.title.length ?? 0)
}
