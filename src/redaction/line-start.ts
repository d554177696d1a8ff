import { BACKSLASH, DASH, isBlank, isLineEnd, NEWLINE, standsAt } from './characters.ts'
import type { Findings } from './findings.ts'
import { isEscapeLetter } from './name-before.ts'
import { textOf } from './text-of.ts'

/** Words before a variable that set it: the line is about nothing else. */
const LEADS = ['export ', 'declare -x ', 'setenv ', 'set ', 'local ', 'env ']

/** Whether a name is the first thing in its line, but for blanks, `export`, a list's `- `, and what other programs put before. */
export function beginsLine({ bytes, start, clean }: Findings, name: number): boolean {
  let at = name
  const lead = LEADS.find((text) => at - text.length >= start && standsAt(bytes, at - text.length, text))
  if (lead !== undefined) at -= lead.length
  while (at > start && isBlank(bytes[at - 1])) at--
  // An item of a list in YAML.
  if (at < name && bytes[at - 1] === DASH && at - 1 >= start) {
    at--
    while (at > start && isBlank(bytes[at - 1])) at--
  }
  if (at === start) return clean || bytes[at - 1] === NEWLINE
  if (endsLine(bytes[at - 1])) return true
  if (bytes[at - 2] === BACKSLASH && isEscapeLetter(bytes[at - 1])) return true
  return isMargin(bytes, start, at)
}

/** A NUL does, where the system keeps an environment. */
export function endsLine(byte: number | undefined): boolean {
  return byte === 0 || isLineEnd(byte)
}

const MAX_MARGIN_BYTES = 48

/** What programs put before each line of others: `web_1  | `, `[12:00] `, a time; or `file:`, as of a search; `+ ` of a shell. */
function isMargin(bytes: Uint8Array, start: number, at: number): boolean {
  const most = Math.max(start, at - MAX_MARGIN_BYTES)
  let from = at
  while (from > most && !endsLine(bytes[from - 1])) from--
  if (from > start && !endsLine(bytes[from - 1])) return false
  return MARGIN.test(textOf(bytes, from, at))
}

const MARGIN = /^(?:[^=]*[|\]>]|\d[\d:.,TZ+-]{4,}(?: [\d:.,+-]{5,})?Z?|[^\s=]+:|[+$#>-]+)$/
