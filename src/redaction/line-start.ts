import { BACKSLASH, DASH, isBlank, isLineEnd, NEWLINE, standsAt } from './characters.ts'
import type { Findings } from './findings.ts'
import { isEscapeLetter } from './name-before.ts'
import { textOf } from './text-of.ts'

/** Words before a variable that assign it. */
const LEADS = ['export ', 'declare -x ', 'setenv ', 'set ', 'local ', 'env ']

/** Whether a name begins its line, after blanks, `export`, the `- ` of a list, and prefixes that other programs add. */
export function beginsLine({ bytes, start, clean }: Findings, name: number): boolean {
  let at = name
  const lead = LEADS.find((text) => at - text.length >= start && standsAt(bytes, at - text.length, text))
  if (lead !== undefined) at -= lead.length
  while (at > start && isBlank(bytes[at - 1])) at--
  // A YAML list item.
  if (at < name && bytes[at - 1] === DASH && at - 1 >= start) {
    at--
    while (at > start && isBlank(bytes[at - 1])) at--
  }
  if (at === start) return clean || bytes[at - 1] === NEWLINE
  if (endsLine(bytes[at - 1])) return true
  if (bytes[at - 2] === BACKSLASH && isEscapeLetter(bytes[at - 1])) return true
  return isMargin(bytes, start, at)
}

/** A NUL ends a line, too: the system separates the variables of an environment with it. */
export function endsLine(byte: number | undefined): boolean {
  return byte === 0 || isLineEnd(byte)
}

const MAX_MARGIN_BYTES = 48

/** Prefixes that programs add to the lines of others: `web_1  | `, `[12:00] `, a time, `file:` of a search, `+ ` of a shell. */
function isMargin(bytes: Uint8Array, start: number, at: number): boolean {
  const most = Math.max(start, at - MAX_MARGIN_BYTES)
  let from = at
  while (from > most && !endsLine(bytes[from - 1])) from--
  if (from > start && !endsLine(bytes[from - 1])) return false
  return MARGIN.test(textOf(bytes, from, at))
}

const MARGIN = /^(?:[^=]*[|\]>]|\d[\d:.,TZ+-]{4,}(?: [\d:.,+-]{5,})?Z?|[^\s=]+:|[+$#>-]+)$/
