import type { Colours } from '../print/colour.ts'
import { cutTo } from '../print/display-width.ts'
import { onOneLine } from '../print/table.ts'
import type { Picture } from './picture.ts'
import type { Size } from './render.ts'
import { nameOf } from './rows.ts'

/** What the keys do. */
export function helpPage({ cols, rows }: Size): string[] {
  return Array.from({ length: rows }, (_, at) => cutTo(HELP[at] ?? '', cols))
}

const HELP = [
  'reeve top: the tree of what runs, and what each command uses',
  '',
  '  arrows, j          move; PgUp, PgDn, Home, End, g, G: further',
  '  l                  the end of what a command has printed, as it comes',
  '  a, Enter           sit down at the terminal of a command; Ctrl-] comes back',
  '  k                  kill it and everything it started; asks first',
  '  p                  pause it, or resume it',
  '  /                  only what has a text in it; Esc shows all again',
  '  s                  sort: tree, cpu, memory, output, age, name (marked above)',
  '  Ctrl-L, Ctrl-Z     draw it anew; back to the shell until fg',
  '  q, Ctrl-C          quit',
  '',
  'CPU is of one core: two busy ones are 200%.',
  'What has ended is shown for ten seconds more.',
  '',
  'Any key leads back.',
]

/** The end of what a command has printed. */
export function logsPage(
  { records }: Picture,
  { pid, lines }: { readonly pid: string; readonly lines: readonly string[] | null },
  { cols, rows }: Size,
  colours: Colours,
): string[] {
  const record = records.get(pid)
  const name = record === undefined ? pid : nameOf(record)
  const page = Math.max(0, rows - 2)
  const texts = lines === null ? ['Looking …'] : lines.length === 0 ? ['It has printed nothing.'] : lines
  const shown = texts.slice(-page).map((line) => cutTo(onOneLine(line), cols))
  return [
    colours.bold(cutTo(onOneLine(`The end of what ${name} has printed`), cols)),
    ...shown,
    ...Array<string>(Math.max(0, page - shown.length)).fill(''),
    colours.dim(cutTo(onOneLine(`Any key leads back · reeve logs -f ${name} has all of it`), cols)),
  ].slice(0, rows)
}
