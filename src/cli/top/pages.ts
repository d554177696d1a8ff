import type { Colours } from '../print/colour.ts'
import { cutTo } from '../print/display-width.ts'
import { onOneLine } from '../print/table.ts'
import type { Picture } from './picture.ts'
import type { Size } from './render.ts'
import { nameOf } from './rows.ts'

/** The page that explains the keys. */
export function helpPage({ cols, rows }: Size): string[] {
  return Array.from({ length: rows }, (_, at) => cutTo(HELP[at] ?? '', cols))
}

const HELP = [
  'reeve top: the tree of live processes, and the resources they use',
  '',
  '  arrows, j          move; PgUp, PgDn, Home, End, g, G: move further',
  '  l                  follow the output of a command',
  '  a, Enter           attach to the terminal of a command; Ctrl-] comes back',
  '  k                  kill a process and everything it started; asks first',
  '  p                  pause a process, or resume it',
  '  /                  filter by a text; Esc shows all again',
  '  s                  sort: tree, cpu, memory, output, age, name (marked above)',
  '  Ctrl-L, Ctrl-Z     redraw; back to the shell until fg',
  '  q, Ctrl-C          quit',
  '',
  'CPU is relative to one core: two busy cores are 200%.',
  'Ended processes stay for ten seconds.',
  '',
  'Press any key to go back.',
]

/** The page with the end of a command's output. */
export function logsPage(
  { records }: Picture,
  { pid, lines }: { readonly pid: string; readonly lines: readonly string[] | null },
  { cols, rows }: Size,
  colours: Colours,
): string[] {
  const record = records.get(pid)
  const name = record === undefined ? pid : nameOf(record)
  const page = Math.max(0, rows - 2)
  const texts = lines === null ? ['Loading …'] : lines.length === 0 ? ['It has printed nothing.'] : lines
  const shown = texts.slice(-page).map((line) => cutTo(onOneLine(line), cols))
  return [
    colours.bold(cutTo(onOneLine(`The last output of ${name}`), cols)),
    ...shown,
    ...Array<string>(Math.max(0, page - shown.length)).fill(''),
    colours.dim(cutTo(onOneLine(`Press any key to go back · reeve logs -f ${name} has all output`), cols)),
  ].slice(0, rows)
}
