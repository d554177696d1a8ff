import { commandText, statusText } from '../print/status.ts'
import type { Figures } from './figures.ts'
import { figuresFor, type Picture, type ProcessRecord, type Sort } from './picture.ts'

/** One line of the tree. */
export interface Row {
  readonly record: ProcessRecord
  readonly figures: Figures
  readonly ports: readonly number[]
  /** The lines of the tree before it. */
  readonly before: string
  readonly depth: number
  /** False: visible only because a descendant matches the filter. */
  readonly fits: boolean
}

/** The rows of the tree: processes that match the filter, and their ancestors. Siblings are sorted. */
export function rowsOf(picture: Picture): Row[] {
  const { records, filter, sort } = picture
  const below = new Map<string | null, ProcessRecord[]>()
  for (const record of records.values()) {
    const parent = record.parent !== null && records.has(record.parent) ? record.parent : null
    const siblings = below.get(parent)
    if (siblings === undefined) below.set(parent, [record])
    else siblings.push(record)
  }
  const branchesOf = (parent: string | null): Branch[] =>
    (below.get(parent) ?? [])
      .map((record) => branch(picture, record, branchesOf(record.pid), filter))
      .filter((one) => one.isShown)
      .sort((a, b) => compare(a, b, sort))
  return flat(branchesOf(null), '', 0).map((row) => ({
    ...row,
    ports: row.record.outcome === null ? (picture.ports.get(row.record.pid) ?? []) : [],
  }))
}

interface Branch {
  readonly record: ProcessRecord
  readonly figures: Figures
  readonly children: readonly Branch[]
  readonly fits: boolean
  readonly isShown: boolean
  /** The largest figures in its tree: a busy child moves its whole tree up. */
  readonly most: Figures
}

function branch(
  picture: Picture,
  record: ProcessRecord,
  children: readonly Branch[],
  filter: string,
): Branch {
  const figures = figuresFor(picture, record.pid)
  const fits = filter === '' || textOf(record).includes(filter.toLowerCase())
  const most = [figures, ...children.map((child) => child.most)].reduce(larger)
  return { record, figures, children, fits, isShown: fits || children.length > 0, most }
}

function textOf(record: ProcessRecord): string {
  const { pid, name, kind, owner } = record
  const parts = [pid, name, kind, owner.session, statusText(record), commandText(record)]
  return parts.join(' ').toLowerCase()
}

function larger(a: Figures, b: Figures): Figures {
  const most = (which: keyof Figures) =>
    a[which] === null && b[which] === null ? null : Math.max(a[which] ?? 0, b[which] ?? 0)
  return {
    cpuPercent: most('cpuPercent'),
    memoryBytes: most('memoryBytes'),
    outputBytes: most('outputBytes'),
    outputPerSecond: most('outputPerSecond'),
  }
}

const FIGURE: Readonly<Record<'cpu' | 'memory' | 'output', keyof Figures>> = {
  cpu: 'cpuPercent',
  memory: 'memoryBytes',
  output: 'outputPerSecond',
}

/** The largest first; equal ones stay in the order of their creation. */
function compare(a: Branch, b: Branch, sort: Sort): number {
  if (sort === 'tree') return 0
  // The youngest first: the order of creation, which `tree` shows, has the oldest first.
  if (sort === 'age') return b.record.createdAt - a.record.createdAt
  if (sort === 'name') return nameOf(a.record).localeCompare(nameOf(b.record))
  const which = FIGURE[sort]
  return (b.most[which] ?? -1) - (a.most[which] ?? -1)
}

export function nameOf({ name, pid }: ProcessRecord): string {
  return name ?? pid
}

function flat(branches: readonly Branch[], before: string, depth: number): Omit<Row, 'ports'>[] {
  return branches.flatMap(({ record, figures, fits, children }, at) => {
    const isLast = at === branches.length - 1
    const own = depth === 0 ? '' : `${before}${isLast ? '└─ ' : '├─ '}`
    const next = depth === 0 ? '' : `${before}${isLast ? '   ' : '│  '}`
    return [{ record, figures, fits, depth, before: own }, ...flat(children, next, depth + 1)]
  })
}
