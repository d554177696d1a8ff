import {
  APOSTROPHE,
  BACKTICK,
  BASE64,
  COMMA,
  DOT,
  EQUALS,
  isBlank,
  isIn,
  isLineEnd,
  isQuote,
  NAME,
  NEWLINE,
  QUOTE,
  STAR,
  standsAt,
  UNDERSCORE,
  UPPER_OR_DIGIT,
  WORD,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { isSecretName, isSecretOption } from './secret-name.ts'
import { isBehindEscape } from './words.ts'

/**
 * The value of `NAME=value` whose name says that it is a secret; `at` is the `=`. Answers with where it ends, or `at`.
 *
 * | where it stands                                | the value is                                  |
 * | `"NAME=value"`                                 | all up to the quotation mark                  |
 * | a line of output, or `export` and such before  | the rest of the line: what `env` prints       |
 * | anywhere else                                  | up to the next blank, or as it is quoted      |
 *
 * A value that is no secret, like `true` or `$OTHER`, stays: programs and scripts can be read.
 */
export function findAssignment(found: Findings, at: number): number {
  const { bytes } = found
  if (bytes[at + 1] === EQUALS) return at
  const name = secretNameBefore(found, at)
  if (name === -1) return at
  const { from, to } = valueAt(found, name, at + 1)
  const isOpen = found.mayGoOn(to)
  if (isPlain(bytes, from, to)) {
    if (isOpen) found.addEarly(from, to)
    return at
  }
  if (isOpen && to - from <= LONGEST_PLAIN) found.addEarly(from, to)
  else found.add(from, to)
  return to
}

/** Whether a name that says it may end so: in capitals, with a blank, or as `key`, `token`, `secret`, `auth`, `word` and the like do. */
export function mayEndName(byte: number | undefined): boolean {
  return byte !== undefined && NAME_ENDS[byte] === 1
}

const NAME_ENDS = new Uint8Array(256)
for (const end of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ \tyntdhesl') NAME_ENDS[end.charCodeAt(0)] = 1

const LONGEST_NAME = 128
const LONGEST_PLAIN = 64
const LEAST_STRONG = 12

/** Where a name that says it begins; -1 if there is none. */
function secretNameBefore(found: Findings, at: number): number {
  const { bytes, start } = found
  const first = Math.max(start, at - LONGEST_NAME)
  let name = at
  while (name > first && (isIn(bytes[name - 1], UPPER_OR_DIGIT) || bytes[name - 1] === UNDERSCORE)) name--
  const isWhole = name === start || !isIn(bytes[name - 1], NAME) || isBehindEscape(bytes, name)
  if (isWhole && at - name >= 3 && isSecretName(textOf(bytes, name, at))) return name
  if (!found.lines) {
    name = at
    while (name > first && isIn(bytes[name - 1], WORD)) name--
    if (at - name > 4 && isSecretOption(textOf(bytes, name, at))) return name
  }
  return strongNameBefore(found, at, first)
}

/** Names of files that are shown often, in small letters and with blanks around the `=`: those of AWS, npm, Azure. */
function strongNameBefore(found: Findings, at: number, first: number): number {
  const { bytes, end } = found
  let behind = at
  while (behind > first && isBlank(bytes[behind - 1])) behind--
  let name = behind
  while (name > first && isIn(bytes[name - 1], NAME)) name--
  const isStrong = STRONG.some((strong) => behind - name === strong.length && standsAt(bytes, name, strong))
  if (!isStrong) return -1
  let value = at + 1
  while (value < end && isBlank(bytes[value])) value++
  let to = value
  while (to < end && (isIn(bytes[to], WORD | BASE64) || bytes[to] === DOT || bytes[to] === STAR)) to++
  return to - value >= LEAST_STRONG || found.mayGoOn(to) ? name : -1
}

const STRONG = [
  ...['aws_secret_access_key', 'aws_session_token', '_authtoken', '_auth', '_password'],
  ...['accountkey', 'sharedaccesskey'],
]

interface Value {
  readonly from: number
  readonly to: number
}

/** Quotation marks around it stay: they say where it ends to whoever looks again. */
function valueAt(found: Findings, name: number, at: number): Value {
  const { bytes, end } = found
  const before = name > found.start ? bytes[name - 1] : undefined
  const endsWith = (quote: number | undefined) => (byte: number) => byte === quote || endsLine(byte)
  if (isQuote(before)) return { from: at, to: until(bytes, at, end, endsWith(before)) }
  if (found.lines && beginsLine(found, name)) return { from: at, to: until(bytes, at, end, endsLine) }
  let from = at
  while (from < end && isBlank(bytes[from]) && isBlank(bytes[at - 2])) from++
  const quote = bytes[from]
  if (isQuote(quote)) return { from: from + 1, to: until(bytes, from + 1, end, endsWith(quote)) }
  return { from, to: until(bytes, from, end, (byte, at) => endsWord(found, byte, at)) }
}

function endsWord(found: Findings, byte: number, at: number): boolean {
  // One within a value belongs to it.
  if (byte === COMMA) {
    const next = found.bytes[at + 1]
    return at + 1 >= found.end ? !found.mayGoOn(found.end) : isBlank(next) || isQuote(next) || endsLine(next)
  }
  return (
    isBlank(byte) ||
    endsLine(byte) ||
    byte === QUOTE ||
    byte === APOSTROPHE ||
    byte === BACKTICK ||
    ENDS.has(byte)
  )
}

/** `;`, `&`, `|`, `)` */
const ENDS: ReadonlySet<number> = new Set([0x3b, 0x26, 0x7c, 0x29])

/** Where an environment is kept by the system, a NUL does. */
function endsLine(byte: number | undefined): boolean {
  return byte === 0 || isLineEnd(byte)
}

function until(
  bytes: Uint8Array,
  from: number,
  end: number,
  stops: (byte: number, at: number) => boolean,
): number {
  let at = from
  while (at < end && !stops(bytes[at] as number, at)) at++
  return at
}

const LEADS = ['export ', 'declare -x ', 'setenv ', 'set ']

function beginsLine({ bytes, start, clean }: Findings, name: number): boolean {
  let at = name
  const lead = LEADS.find((text) => at - text.length >= start && standsAt(bytes, at - text.length, text))
  if (lead !== undefined) at -= lead.length
  while (at > start && isBlank(bytes[at - 1])) at--
  while (at > start && isBehindEscape(bytes, at)) at = bytes.lastIndexOf(0x1b, at - 1)
  return at === start
    ? clean || bytes[at - 1] === NEWLINE
    : endsLine(bytes[at - 1]) || isMargin(bytes, start, at)
}

/** What programs put before each line of others: `web_1  | `, `[12:00] `, a time; or `file:`, as of a search. */
function isMargin(bytes: Uint8Array, start: number, at: number): boolean {
  const most = Math.max(start, at - MOST_MARGIN)
  let from = at
  while (from > most && !endsLine(bytes[from - 1])) from--
  if (from > start && !endsLine(bytes[from - 1])) return false
  return MARGIN.test(textOf(bytes, from, at))
}

const MOST_MARGIN = 48
const MARGIN = /^(?:[^=]*[|\]>]|\d[\d:.,TZ+-]{4,}(?: [\d:.,+-]{5,})?Z?|[^\s=]+:)$/

/** What a variable holds that is no secret, whatever its name; or the name of another one. */
function isPlain(bytes: Uint8Array, from: number, to: number): boolean {
  if (from === to) return true
  const [first, second] = [bytes[from], bytes[from + 1]]
  if (first === BACKTICK || (first === 0x24 && (second === 0x7b || second === 0x28))) return true
  if (to - from > LONGEST_PLAIN) return false
  const text = textOf(bytes, from, to)
  return PLAIN.test(text) || REFERENCE.test(text)
}

const PLAIN = /^["']?(true|false|null|none|nil|undefined|yes|no|on|off|value|\.\.\.|\d{1,4})["']?,?$/i
const REFERENCE =
  /^["']?(\$[A-Z_][A-Z0-9_]*|\$[0-9@*]|\$[({].*|<[^>]*>|(os|process|import|System|Deno|Bun)\..*)["']?,?$/

function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number)
  return text
}
