import type { Colours } from '../print/colour.ts'
import { commandText, statusColour, statusText } from '../print/status.ts'
import { type Cell, type Column, onOneLine, tableLines } from '../print/table.ts'
import { byteCount, shortTime } from '../print/times.ts'
import type { Sort } from './picture.ts'
import { nameOf, type Row } from './rows.ts'

/** The table of `top`, for a terminal or a pipe. Columns of figures have room to grow, so that they do not move. */
export function tableOf(
  rows: readonly Row[],
  width: number | undefined,
  colours: Colours,
  now: number,
  sort: Sort = 'tree',
): string[] {
  const withPorts = rows.some(({ ports }) => ports.length > 0)
  const room = width === undefined || width >= WIDE ? ROOMY : NARROW
  const columns = [...FIGURES, ...(withPorts ? [PORTS] : []), PROCESS]
  return tableLines(
    columns.map(({ title, sorts, ...column }) => ({
      ...column,
      title: sorts === sort ? marked(title, sorts) : title,
    })),
    rows.map((row) => cellsOf(row, withPorts, room, colours, now)),
    { width, paintTitle: colours.bold },
  )
}

interface TopColumn extends Column {
  /** The order in which this column decides. */
  readonly sorts?: Sort
}

const FIGURES: readonly TopColumn[] = [
  { title: '  CPU', align: 'right', sorts: 'cpu' },
  { title: '   MEMORY', align: 'right', sorts: 'memory' },
  { title: '   OUTPUT/S', align: 'right', sorts: 'output' },
  { title: 'STATUS   ' },
  { title: '  AGE', align: 'right', sorts: 'age' },
]
/** Present if a process listens on a port. */
const PORTS: TopColumn = { title: 'PORTS' }
const PROCESS: TopColumn = { title: 'PROCESS', flexible: true, sorts: 'name' }

/** `▼`: the largest first. Names begin with A, and ages with the youngest: `▲`. */
function marked(title: string, sort: Sort): string {
  const mark = sort === 'name' || sort === 'age' ? '▲' : '▼'
  return title.startsWith(' ') ? `${title.slice(1)}${mark}` : `${title}${mark}`
}

/** From this width on nothing is abbreviated. */
const WIDE = 98
interface Room {
  readonly status: number
  /** The number of ports; more would push out the other columns. */
  readonly ports: number
}
const ROOMY: Room = { status: 18, ports: 3 }
const NARROW: Room = { status: 9, ports: 1 }

function cellsOf(row: Row, withPorts: boolean, room: Room, colours: Colours, now: number): Cell[] {
  const { record, figures, before, fits, ports } = row
  const { outcome, firstStarted, createdAt } = record
  const { cpuPercent, memoryBytes, outputPerSecond } = figures
  const from = firstStarted?.at ?? createdAt
  const command = onOneLine(commandText(record))
  const waits = waitText(record, now)
  const paint = fits && outcome === null ? (text: string) => text : colours.dim
  const status = statusText(record)
  return [
    { text: percentText(cpuPercent), paint },
    { text: bytesText(memoryBytes), paint },
    { text: outputPerSecond === null ? '' : `${byteCount(Math.round(outputPerSecond))}/s`, paint },
    {
      text: status.length > room.status ? record.status : status,
      paint: statusColour(record.status, colours),
    },
    { text: shortTime((outcome?.endedAt ?? now) - from), paint: colours.dim },
    ...(withPorts ? [{ text: portsText(ports, room.ports), paint }] : []),
    { text: `${before}${nameOf(record)}  ${waits === null ? '' : `${waits} · `}${command}`, paint },
  ]
}

/** The awaited condition of a waiting process. */
function waitText({ status, wait, moreWaits }: Row['record'], now: number): string | null {
  if (status !== 'waiting' || wait == null) return null
  const more = moreWaits.length === 0 ? '' : ` and ${moreWaits.length} more`
  if (wait.on === 'timer') return `waits ${shortTime(Math.max(0, (wait.until ?? now) - now))}${more}`
  return onOneLine(`waits for ${wait.on} ${wait.name}${more}`)
}

function portsText(ports: readonly number[], most: number): string {
  const shown = ports.slice(0, most).map((port) => `:${port}`)
  return [...shown, ...(ports.length > most ? ['…'] : [])].join(' ')
}

export function percentText(percent: number | null): string {
  if (percent === null) return ''
  return `${percent >= 99.95 ? Math.round(percent) : percent.toFixed(1)}%`
}

function bytesText(bytes: number | null): string {
  return bytes === null ? '' : byteCount(bytes)
}
