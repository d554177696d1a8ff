import { styleText } from 'node:util'
import type { Colours } from '../print/colour.ts'
import { cutTo, displayWidth } from '../print/display-width.ts'
import { onOneLine } from '../print/table.ts'
import { byteCount, shortTime } from '../print/times.ts'
import { totalOf } from './figures.ts'
import { helpPage, logsPage } from './pages.ts'
import type { Picture } from './picture.ts'
import { nameOf, type Row, rowsOf } from './rows.ts'
import { withSelection } from './settle.ts'
import { percentText, tableOf } from './table.ts'

export interface Size {
  readonly cols: number
  readonly rows: number
}

/** The lines around the rows: totals, titles and keys. */
const FRAME_LINES = 3

/** The number of visible rows. */
export function pageOf({ rows }: Size): number {
  return Math.max(1, rows - FRAME_LINES)
}

/** The lines of the terminal, as many as it has. */
export function render(given: Picture, size: Size, colours: Colours, now: number): string[] {
  if (given.mode.in === 'help') return helpPage(size)
  if (given.mode.in === 'logs') return logsPage(given, given.mode, size, colours)
  const rows = rowsOf(given)
  const bottom = foot(given, size, colours, now)
  // A message may take several lines: rows make room for it.
  const above = given.approvals === null ? [] : [colours.yellow(cutTo(onOneLine(given.approvals), size.cols))]
  const page = Math.max(1, pageOf(size) - (bottom.length - 1) - above.length)
  const picture = withSelection(given, rows, page)
  const shown = rows.slice(picture.from, picture.from + page)
  // Two columns are for the mark of the selected row.
  const [titles = '', ...lines] = tableOf(shown, size.cols - 2, colours, now, picture.sort)
  const marked = lines.map((line, at) => {
    const isSelected = shown[at]?.record.pid === picture.selected
    return isSelected ? inverse(`> ${line}`) : `  ${line}`
  })
  const blank = Array<string>(Math.max(0, page - marked.length)).fill('')
  if (rows.length === 0) blank[0] = `  ${colours.dim(emptyText(picture))}`
  return [head(rows, size, colours), ...above, `  ${titles}`, ...marked, ...blank, ...bottom].slice(
    0,
    size.rows,
  )
}

function head(rows: readonly Row[], { cols }: Size, colours: Colours): string {
  const statuses = ['running', 'waiting', 'queued', 'paused', 'stopping'] as const
  const count = (status: string) => rows.filter(({ record }) => record.status === status).length
  const counts = statuses
    .map((status) => [count(status), status] as const)
    .filter(([many, status]) => many > 0 || status === 'running')
  const figures = rows.map((row) => row.figures)
  const rate = totalOf(figures, 'outputPerSecond')
  const facts = [
    'reeve top',
    counts.map(([many, status]) => `${many} ${status}`).join(', '),
    `CPU ${percentText(totalOf(figures, 'cpuPercent') ?? 0)}`,
    `memory ${byteCount(totalOf(figures, 'memoryBytes') ?? 0)}`,
    `output ${byteCount(Math.round(rate ?? 0))}/s`,
  ]
  return colours.bold(asManyAsFit(facts, cols))
}

/** The most important ones first: those that do not fit are left out. */
const KEYS = ['? help', 'q quit', 'l logs', 'a attach', 'k kill', 'p pause', '/ filter', 's sort']

/** Joins the parts that fit. Only a first part that is too long by itself is cut. */
function asManyAsFit(parts: readonly string[], width: number): string {
  const fitting = parts.reduce((line, part) => {
    const longer = line === '' ? part : `${line} · ${part}`
    return displayWidth(longer) <= width ? longer : line
  }, '')
  return fitting === '' ? cutTo(parts[0] ?? '', width) : fitting
}

/** After this time without an answer, the daemon counts as away. */
const AWAY_MS = 1_500
/** The rest of the screen is for the processes. */
const MAX_MESSAGE_LINES = 3

function foot(picture: Picture, { cols }: Size, colours: Colours, now: number): string[] {
  const { mode, filter, said, warning, records } = picture
  const wrapped = (text: string, paint: (text: string) => string) => wrap(onOneLine(text), cols).map(paint)
  if (mode.in === 'kill') {
    const record = records.get(mode.pid)
    const name = record === undefined ? mode.pid : nameOf(record)
    return wrapped(`Kill ${name} and everything it started? y kills, any other key does not.`, colours.red)
  }
  if (mode.in === 'filter')
    return [cutTo(onOneLine(`/${filter}_  Enter keeps it, Esc shows all again`), cols)]
  const only = filter === '' ? [] : [onOneLine(`only "${filter}" (Esc: all)`)]
  const trouble = troubleText(picture, now)
  if (trouble !== null) return wrapped([...only, trouble].join(' · '), colours.yellow)
  if (said !== null) return wrapped([...only, said].join(' · '), colours.cyan)
  if (warning !== null) return wrapped([...only, warning].join(' · '), colours.yellow)
  return [colours.dim(asManyAsFit([...only, ...KEYS], cols))]
}

/** Wraps a message between words, to a few lines at most. */
function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    const longer = line === '' ? word : `${line} ${word}`
    if (displayWidth(longer) <= width || line === '') lines[lines.length - 1] = longer
    else lines.push(word)
  }
  const shown = lines.slice(0, MAX_MESSAGE_LINES)
  if (lines.length > MAX_MESSAGE_LINES) shown.push(`${shown.pop() ?? ''} …`)
  return shown.map((line) => cutTo(line, width))
}

function troubleText({ trouble, askedAt }: Picture, now: number): string | null {
  if (trouble !== null) return trouble
  if (askedAt === null || now - askedAt < AWAY_MS) return null
  return `The daemon has not answered for ${shortTime(now - askedAt)}; the display resumes when it does.`
}

function emptyText({ isLoaded, filter }: Picture): string {
  if (!isLoaded) return 'Loading …'
  return filter === '' ? 'No live processes.' : `No process matches "${onOneLine(filter)}"; Esc shows all.`
}

/** Not a colour, and so not subject to NO_COLOR: the selected row must stand out without colours, too. */
function inverse(text: string): string {
  return styleText('inverse', text, { validateStream: false })
}
