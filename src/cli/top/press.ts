import { type Picture, SORTS } from './picture.ts'
import { nameOf, type Row, rowsOf } from './rows.ts'
import { selectedIn } from './settle.ts'

/** An effect that a key asks for, beyond a change of the picture. */
export type Act =
  | { readonly act: 'quit' | 'suspend' | 'redraw' }
  | { readonly act: 'kill' | 'pause' | 'resume' | 'attach' | 'logs'; readonly pid: string }

export interface Pressed {
  readonly picture: Picture
  readonly act: Act | null
}

/** Applies a key to the picture. `page`: the number of visible rows. The table of modes is at `Mode`. */
export function press(picture: Picture, key: string, page: number): Pressed {
  if (key === 'ctrl-c') return { picture, act: { act: 'quit' } }
  if (key === 'ctrl-z') return { picture, act: { act: 'suspend' } }
  if (key === 'ctrl-l') return { picture, act: { act: 'redraw' } }
  switch (picture.mode.in) {
    case 'filter':
      return { picture: inFilter(picture, key), act: null }
    case 'kill':
      return answered(picture, key, picture.mode.pid)
    case 'logs':
    case 'help':
      return { picture: { ...picture, mode: { in: 'list' } }, act: null }
    case 'list':
      return inList({ ...picture, said: null }, key, page)
  }
}

function inFilter(picture: Picture, key: string): Picture {
  const { filter } = picture
  if (key === 'enter') return { ...picture, mode: { in: 'list' } }
  if (key === 'esc') return { ...picture, mode: { in: 'list' }, filter: '' }
  if (key === 'backspace') return { ...picture, filter: [...filter].slice(0, -1).join('') }
  if (key === 'ctrl-u') return { ...picture, filter: '' }
  return [...key].length === 1 && filter.length < MAX_FILTER_CHARS
    ? { ...picture, filter: filter + key }
    : picture
}

/** A longer filter does not fit on the line. */
const MAX_FILTER_CHARS = 60

function answered(picture: Picture, key: string, pid: string): Pressed {
  const after: Picture = { ...picture, mode: { in: 'list' } }
  return { picture: after, act: key === 'y' || key === 'Y' ? { act: 'kill', pid } : null }
}

function inList(picture: Picture, key: string, page: number): Pressed {
  const rows = rowsOf(picture)
  const at = selectedIn(rows, picture)
  const moved = MOVES[key]?.(page)
  if (moved !== undefined) return { picture: selecting(picture, rows, at + moved), act: null }
  const row = rows[at]
  switch (key) {
    case 'q':
      return { picture, act: { act: 'quit' } }
    case '/':
      return { picture: { ...picture, mode: { in: 'filter' } }, act: null }
    case 'esc':
      return { picture: { ...picture, filter: '' }, act: null }
    case 's':
      return { picture: { ...picture, sort: next(picture.sort) }, act: null }
    case 'k':
      return { picture: asked(picture, row), act: null }
    case 'p':
      return onLiving(picture, row, ({ status }) => (status === 'paused' ? 'resume' : 'pause'))
    case '?':
      return { picture: { ...picture, mode: { in: 'help' } }, act: null }
    case 'l':
      return reading(picture, row)
    case 'a':
    case 'enter':
      return attaching(picture, row)
    default:
      return { picture, act: null }
  }
}

const FAR = Number.MAX_SAFE_INTEGER
const MOVES: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  down: () => 1,
  'page-up': (page) => -page,
  'page-down': (page) => page,
  home: () => -FAR,
  g: () => -FAR,
  end: () => FAR,
  G: () => FAR,
}

function selecting(picture: Picture, rows: readonly Row[], to: number): Picture {
  const at = Math.min(Math.max(0, to), rows.length - 1)
  const row = rows[at]
  return row === undefined ? picture : { ...picture, selected: row.record.pid, selectedAt: at }
}

function next(sort: Picture['sort']): Picture['sort'] {
  return SORTS[(SORTS.indexOf(sort) + 1) % SORTS.length] ?? 'tree'
}

function asked(picture: Picture, row: Row | undefined): Picture {
  if (row === undefined) return picture
  if (row.record.outcome !== null) return hasEnded(picture, row)
  const { pid } = row.record
  return { ...picture, selected: pid, mode: { in: 'kill', pid } }
}

function onLiving(
  picture: Picture,
  row: Row | undefined,
  which: (record: Row['record']) => 'pause' | 'resume',
): Pressed {
  if (row === undefined) return { picture, act: null }
  if (row.record.outcome !== null) return { picture: hasEnded(picture, row), act: null }
  const { pid } = row.record
  return { picture: { ...picture, selected: pid }, act: { act: which(row.record), pid } }
}

function attaching(picture: Picture, row: Row | undefined): Pressed {
  if (row === undefined) return { picture, act: null }
  const { pid, spec, outcome } = row.record
  if (outcome !== null) return { picture: hasEnded(picture, row), act: null }
  if (spec['pty']) return { picture: { ...picture, selected: pid }, act: { act: 'attach', pid } }
  const said = `${nameOf(row.record)} has no terminal to attach to; l shows its output.`
  return { picture: { ...picture, said }, act: null }
}

function reading(picture: Picture, row: Row | undefined): Pressed {
  if (row === undefined) return { picture, act: null }
  const { pid, kind } = row.record
  if (kind === 'command') {
    const mode = { in: 'logs', pid, lines: null } as const
    return { picture: { ...picture, selected: pid, mode }, act: { act: 'logs', pid } }
  }
  const where =
    kind === 'workflow' ? `reeve workflow show ${pid} shows its steps.` : `reeve show ${pid} shows it.`
  const said = `${nameOf(row.record)} has no output: only commands have. ${where}`
  return { picture: { ...picture, said }, act: null }
}

function hasEnded(picture: Picture, { record }: Row): Picture {
  return { ...picture, said: `${nameOf(record)} has ended.` }
}
