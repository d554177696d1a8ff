import type { Colours } from '../print/colour.ts'
import { commandText, statusColour, statusText } from '../print/status.ts'
import { type Cell, type Column, cutTo, onOneLine, tableLines } from '../print/table.ts'
import { byteCount, shortTime } from '../print/times.ts'
import { totalOf } from './figures.ts'
import type { Picture } from './picture.ts'
import { nameOf, type Row, rowsOf } from './rows.ts'
import { settled } from './settle.ts'

export interface Size {
  readonly cols: number
  readonly rows: number
}

/** Above and below the rows: totals, titles, and what can be done. */
const FRAME = 3

/** How many rows are shown at once. */
export function pageOf({ rows }: Size): number {
  return Math.max(1, rows - FRAME)
}

/** What the terminal shows, line by line: as many as it has. */
export function render(given: Picture, size: Size, colours: Colours, now: number): string[] {
  const rows = rowsOf(given)
  const page = pageOf(size)
  const picture = settled(given, rows, page)
  const shown = rows.slice(picture.from, picture.from + page)
  // Two columns are for the mark of the chosen one.
  const [titles = '', ...lines] = tableOf(shown, size.cols - 2, colours, now)
  const marked = lines.map((line, at) => {
    const isChosen = shown[at]?.record.pid === picture.selected
    return isChosen ? inverse(`> ${line}`) : `  ${line}`
  })
  const blank = Array<string>(Math.max(0, page - marked.length)).fill('')
  if (rows.length === 0) blank[0] = `  ${colours.dim(emptyText(picture))}`
  return [
    head(picture, rows, size, colours),
    `  ${titles}`,
    ...marked,
    ...blank,
    foot(picture, size, colours, now),
  ].slice(0, size.rows)
}

/** Titles and rows, for a terminal as for a pipe. Figures have room to grow, so that columns stand still. */
export function tableOf(
  rows: readonly Row[],
  width: number | undefined,
  colours: Colours,
  now: number,
): string[] {
  const withPorts = rows.some(({ ports }) => ports.length > 0)
  return tableLines(
    [...FIGURES, ...(withPorts ? [PORTS] : []), PROCESS],
    rows.map((row) => cellsOf(row, withPorts, colours, now)),
    { width, paintTitle: colours.bold },
  )
}

const FIGURES: readonly Column[] = [
  { title: '  CPU', align: 'right' },
  { title: '   MEMORY', align: 'right' },
  { title: '   OUTPUT/S', align: 'right' },
  { title: 'STATUS   ' },
  { title: '   AGE', align: 'right' },
]
/** There where somebody listens. */
const PORTS: Column = { title: 'PORTS' }
const PROCESS: Column = { title: 'PROCESS', flexible: true }

function cellsOf(row: Row, withPorts: boolean, colours: Colours, now: number): Cell[] {
  const { record, figures, before, fits, ports } = row
  const { outcome, firstStarted, createdAt } = record
  const { cpuPercent, memoryBytes, outputPerSecond } = figures
  const from = firstStarted?.at ?? createdAt
  const command = onOneLine(commandText(record))
  const paint = fits && outcome === null ? (text: string) => text : colours.dim
  return [
    { text: percentText(cpuPercent), paint },
    { text: bytesText(memoryBytes), paint },
    { text: outputPerSecond === null ? '' : `${byteCount(Math.round(outputPerSecond))}/s`, paint },
    { text: statusText(record), paint: statusColour(record.status, colours) },
    { text: shortTime((outcome?.endedAt ?? now) - from), paint: colours.dim },
    ...(withPorts ? [{ text: portsText(ports), paint }] : []),
    { text: `${before}${nameOf(record)}  ${command}`, paint },
  ]
}

/** More would take the room of all others. */
const MOST_PORTS = 3

function portsText(ports: readonly number[]): string {
  const shown = ports.slice(0, MOST_PORTS).map((port) => `:${port}`)
  return [...shown, ...(ports.length > MOST_PORTS ? ['…'] : [])].join(' ')
}

function percentText(percent: number | null): string {
  if (percent === null) return ''
  return `${percent >= 99.95 ? Math.round(percent) : percent.toFixed(1)}%`
}

function bytesText(bytes: number | null): string {
  return bytes === null ? '' : byteCount(bytes)
}

function head(picture: Picture, rows: readonly Row[], { cols }: Size, colours: Colours): string {
  const statuses = ['running', 'waiting', 'ready', 'paused', 'stopping'] as const
  const count = (status: string) => rows.filter(({ record }) => record.status === status).length
  const counts = statuses
    .map((status) => [count(status), status] as const)
    .filter(([many, status]) => many > 0 || status === 'running')
  const figures = rows.map((row) => row.figures)
  const rate = totalOf(figures, 'outputPerSecond')
  const facts = [
    counts.map(([many, status]) => `${many} ${status}`).join(', '),
    `CPU ${percentText(totalOf(figures, 'cpuPercent') ?? 0)}`,
    `memory ${byteCount(totalOf(figures, 'memoryBytes') ?? 0)}`,
    `output ${byteCount(Math.round(rate ?? 0))}/s`,
    `sorted by ${picture.sort}`,
    ...(picture.filter === '' ? [] : [`only "${picture.filter}"`]),
  ]
  return colours.bold(cutTo(`reeve top · ${facts.join(' · ')}`, cols))
}

const KEYS = 'arrows move · k kill · p pause · a attach · / filter · s sort · q quit'

/** After this long without an answer something is wrong. */
const AWAY_MS = 1_500

function foot(picture: Picture, { cols }: Size, colours: Colours, now: number): string {
  const { mode, filter, said, records } = picture
  const cut = (text: string) => cutTo(onOneLine(text), cols)
  if (mode.in === 'kill') {
    const record = records.get(mode.pid)
    const name = record === undefined ? mode.pid : nameOf(record)
    return colours.red(cut(`Kill ${name} and everything it started? y kills, any other key does not.`))
  }
  if (mode.in === 'filter') return cut(`/${filter}_  Enter keeps it, Esc shows all again`)
  const trouble = troubleText(picture, now)
  if (trouble !== null) return colours.yellow(cut(trouble))
  if (said !== null) return colours.cyan(cut(said))
  return colours.dim(cut(KEYS))
}

function troubleText({ trouble, askedAt }: Picture, now: number): string | null {
  if (trouble !== null) return trouble
  if (askedAt === null || now - askedAt < AWAY_MS) return null
  return `The daemon has not answered for ${shortTime(now - askedAt)}; this goes on when it does.`
}

function emptyText({ isLoaded, filter }: Picture): string {
  if (!isLoaded) return 'Looking …'
  return filter === '' ? 'Nothing runs.' : `Nothing fits "${onOneLine(filter)}"; Esc shows all.`
}

/** Not a colour: also those who want none must see what is chosen. */
function inverse(text: string): string {
  return `\u001b[7m${text}\u001b[27m`
}
