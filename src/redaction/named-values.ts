import {
  APOSTROPHE,
  AT,
  BACKSLASH,
  BACKTICK,
  COLON,
  COMMA,
  DIGIT,
  DOT,
  EQUALS,
  isBlank,
  isIn,
  isQuote,
  NAME,
  NEWLINE,
  QUOTE,
  RETURN,
  standsAt,
  WORD,
} from './characters.ts'
import { findCookies, isCookieName } from './cookies.ts'
import type { Findings } from './findings.ts'
import { findHeader } from './headers.ts'
import { beginsLine, endsLine } from './line-start.ts'
import { isEscapeLetter, type NameBefore, nameBefore } from './name-before.ts'
import { pairedName } from './paired-name.ts'
import type { ValueStyle } from './secret-kind.ts'
import { isSecretValue, looksGenerated } from './secret-value.ts'
import { textOf } from './text-of.ts'

/**
 * The value behind a name that announces a secret: `NAME=value`, `"name": "value"`, `name: value`, `Header-Name: value`,
 * `<name>value</name>`. `at` is the separator. Answers with where the value ends; with `at` if there is nothing to hide.
 *
 * Values that stand for others, such as `$TOKEN` or `<token>`, and what programs say, such as `password: string`, stay.
 */
export function findNamedValue(found: Findings, at: number): number {
  const { bytes } = found
  if (!isSeparator(bytes, at)) return at
  const name = nameBefore(bytes, found.start, at)
  if (name === null) return at
  if (bytes[at] === GREATER) return findElement(found, name, at)
  if (bytes[at] === COMMA || bytes[at] === PIPE) return findNextText(found, name, at)
  if (isCookieName(name.text)) return findCookies(found, name, at + 1)
  if (AUTHORIZATION.test(name.text) && (bytes[at] === COLON || bytes[at] === EQUALS))
    return Math.max(at, findHeader(found, name.to))
  if (name.text === 'thin') return findOracle(found, at + 1)
  const kind = name.kind ?? pairedName(bytes, name)
  if (kind === null || isOther(bytes, name)) return at
  const value = valueAt(found, name, at)
  if (value === null) return at
  const { from, to, style } = value
  if (found.mayGoOn(to) || (value.isWholeLine && found.mayGoOn(value.lineEnd))) {
    // What it is will be known when it has ended.
    found.addEarly(from, Math.max(to, value.isWholeLine ? value.lineEnd : to))
    return value.isWholeLine ? value.lineEnd : to
  }
  // Of several lines the first decides: the others may not be there.
  const judged = until(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES), endsLine)
  if (!isSecretValue(kind, textOf(bytes, from, judged), style)) return at
  found.add(from, to)
  return to
}

const AUTHORIZATION = /authorization$/i
const GREATER = 0x3e
const LESS = 0x3c
const QUESTION = 0x3f
const MAX_JUDGED_BYTES = 256
const MAX_VALUE_BYTES = 4096
/** A block of YAML is looked at so far; a read looks back further than that. */
export const MAX_BLOCK_BYTES = 512

function isSeparator(bytes: Uint8Array, at: number): boolean {
  const [before, after] = [bytes[at - 1], bytes[at + 1]]
  switch (bytes[at]) {
    case EQUALS:
      // `==`, `!=`, `<=`, `>=`, `=~`
      return (
        after !== EQUALS &&
        after !== 0x7e &&
        before !== EQUALS &&
        before !== 0x21 &&
        before !== LESS &&
        before !== GREATER
      )
    case COLON:
      // `::`, `:=`, `?:`
      return after !== COLON && after !== EQUALS && before !== COLON && before !== QUESTION
    case COMMA:
      // `('password', '…')`
      return isQuote(before)
    case PIPE:
      return isBlank(before) || isQuote(before)
    default:
      return before !== EQUALS && before !== DASH && before !== SLASH
  }
}

const DASH = 0x2d
const PIPE = 0x7c
const SQUARE = 0x5b
const SLASH = 0x2f

/** What is a secret in the parameters of a URL alone: a signature says elsewhere who wrote something. */
function isOther(bytes: Uint8Array, { text, from }: NameBefore): boolean {
  if (!/sig(?:nature)?$/i.test(text)) return false
  const before = bytes[from - 1]
  return before !== QUESTION && before !== AMPERSAND && before !== SEMICOLON
}

const AMPERSAND = 0x26
const SEMICOLON = 0x3b

interface Value {
  readonly from: number
  readonly to: number
  readonly style: ValueStyle
  /** Where it ends depends on the rest of its line. */
  readonly isWholeLine: boolean
  readonly lineEnd: number
}

function valueAt(found: Findings, name: NameBefore, at: number): Value | null {
  const { bytes, end } = found
  const isEquals = bytes[at] === EQUALS
  let from = at + (isEquals && bytes[at + 1] === GREATER ? 2 : 1)
  const begin = from
  const lineEnd = () => until(bytes, from, end, endsLine)
  const around = name.isQuoted ? undefined : bytes[name.from - 1]
  // `console.log('password:', password)`
  if (isQuote(around) && bytes[begin] === around) return null
  // `"NAME=value"`, `-H 'Name: value'`
  if (isQuote(around) && !isQuote(bytes[begin])) {
    while (from < end && isBlank(bytes[from])) from++
    const isForm = isEquals && !name.isVariable
    const to = until(
      bytes,
      from,
      end,
      (byte) => byte === around || endsLine(byte) || (isForm && byte === AMPERSAND),
    )
    const other = isEquals || from > begin ? 'setting' : 'bare'
    const style = isEquals && name.isVariable ? 'variable' : isEquals ? other : styleOfHeader(name, other)
    return { from, to: endOfEscaped(bytes, from, to), style, isWholeLine: false, lineEnd: to }
  }
  const isFirst = beginsLine(found, bytes[name.from - 1] === SQUARE ? name.from - 1 : name.from)
  const isEnvironment = isEquals && name.isVariable && !name.isSpaced
  if (isEnvironment && found.lines && isFirst) {
    const rest = lineEnd()
    const to = isEscapedLine(bytes, name.from) ? endOfEscaped(bytes, from, rest) : rest
    return { ...withoutQuotes(bytes, from, to), style: 'variable', isWholeLine: true, lineEnd: rest }
  }
  while (from < end && isBlank(bytes[from])) from++
  if (from >= end && !found.open) return null
  const isSpaced = from > begin
  const opening = openingQuote(bytes, from) ?? wrappedQuote(bytes, from) ?? dumpedQuote(bytes, from)
  if (opening !== null) {
    if (isEnvironment && opening.quote === BACKTICK) return null
    const to = endOfQuoted(bytes, opening, end)
    return {
      from: opening.inside,
      to,
      style: isEnvironment ? 'variable' : name.isSentence ? 'sentence' : 'quoted',
      isWholeLine: false,
      lineEnd: to,
    }
  }
  if (bytes[from] === LESS && !isEnvironment) {
    // `<…>`, as some frame what is to be copied; mostly it holds a description.
    const to = until(bytes, from + 1, end, (byte) => byte === GREATER || isBlank(byte) || endsLine(byte))
    return { from: from + 1, to, style: 'sentence', isWholeLine: false, lineEnd: to }
  }
  if (isEnvironment && isSpaced) return null
  const isTight = !isEquals && !isSpaced
  const word = until(
    bytes,
    from,
    end,
    (byte, place) => endsWord(found, byte, place) || (isTight && byte === COMMA),
  )
  if (isEnvironment) return { from, to: word, style: 'variable', isWholeLine: false, lineEnd: word }
  if (name.isQuoted) return { from, to: word, style: 'bare', isWholeLine: false, lineEnd: word }
  if (name.isSentence) return { from, to: word, style: 'sentence', isWholeLine: false, lineEnd: word }
  const isColon = !isEquals
  if (isColon && name.text.includes('-'))
    return {
      from,
      to: word,
      style: styleOfHeader(name, isFirst ? 'setting' : 'bare'),
      isWholeLine: false,
      lineEnd: word,
    }
  if (isFirst && (isColon ? isSpaced : true)) return restOfLine(found, name, from, isColon, isSpaced)
  const isParameterOfUrl = isEquals && (around === QUESTION || around === 0x26 || around === 0x3b)
  const isPair = isEquals && !name.isSpaced && !isSpaced && !endsArgument(bytes[word])
  const style = isParameterOfUrl || isPair ? 'setting' : 'bare'
  return { from, to: word, style, isWholeLine: false, lineEnd: word }
}

/** A setting that is all of its line, but for a comment; of `name=value` pairs, the first. */
function restOfLine(
  found: Findings,
  name: NameBefore,
  from: number,
  isColon: boolean,
  isSpaced: boolean,
): Value {
  const { bytes, end } = found
  const isEscaped = isEscapedLine(bytes, name.from)
  const lineEnd = until(bytes, from, Math.min(end, from + MAX_VALUE_BYTES), endsLine)
  if (isColon && (bytes[from] === PIPE || bytes[from] === GREATER) && lineEnd - from <= 3) {
    const block = blockBehind(found, name.from, lineEnd)
    if (block !== null) return block
  }
  let to = isEscaped ? endOfEscaped(bytes, from, lineEnd) : lineEnd
  const word = until(bytes, from, to, (byte) => isBlank(byte) || (!isColon && byte === AMPERSAND))
  const others = textOf(bytes, word, Math.min(to, word + MAX_JUDGED_BYTES))
  const comment = /\s(?:#|\/\/|;|<!--|--)/.exec(others)
  if (comment !== null) to = word + comment.index
  else if (!isColon && /[&=]/.test(others)) to = word
  while (to > from && isBlank(bytes[to - 1])) to--
  // A member of an object in a program.
  const isMember = bytes[to - 1] === COMMA
  if (isMember) to--
  const isOneWord = until(bytes, from, to, isBlank) === to
  const style =
    isMember || (!isColon && isSpaced && bytes[name.from - 1] !== SQUARE)
      ? 'bare'
      : name.isVariable && isColon && isOneWord
        ? 'variable'
        : 'setting'
  return { from, to, style, isWholeLine: true, lineEnd }
}

/** A text of YAML in the lines below its name, `password: |`, indented further. */
function blockBehind(found: Findings, name: number, header: number): Value | null {
  const { bytes, end } = found
  const indent = (from: number) => until(bytes, from, end, (byte) => !isBlank(byte)) - from
  // A search from -1 would begin at the last byte.
  const line = name === 0 ? 0 : bytes.lastIndexOf(NEWLINE, name - 1) + 1
  const least = indent(line) + 1
  const from = header + (bytes[header] === RETURN ? 2 : 1)
  let to = from
  for (let at = from; at < Math.min(end, from + MAX_BLOCK_BYTES) && indent(at) >= least; ) {
    to = until(bytes, at, Math.min(end, from + MAX_BLOCK_BYTES), endsLine)
    at = to + (bytes[to] === RETURN ? 2 : 1)
  }
  const text = from + indent(from)
  if (to <= text) return null
  return { from: text, to, style: 'setting', isWholeLine: false, lineEnd: to }
}

function styleOfHeader({ text, kind, isVariable }: NameBefore, other: ValueStyle): ValueStyle {
  if (isVariable) return 'variable'
  return /^x-/i.test(text) || (text.includes('-') && kind !== 'possible' && kind !== null) ? 'header' : other
}

/** Quotation marks around a whole value stay: they say where it ends. */
function withoutQuotes(bytes: Uint8Array, from: number, to: number): { from: number; to: number } {
  const quote = bytes[from]
  // What backticks hold is run.
  const isQuoted = to - from >= 2 && isQuote(quote) && quote !== BACKTICK && bytes[to - 1] === quote
  return isQuoted ? { from: from + 1, to: to - 1 } : { from, to }
}

function isEscapedLine(bytes: Uint8Array, name: number): boolean {
  return bytes[name - 2] === BACKSLASH && isEscapeLetter(bytes[name - 1])
}

/** A line within a text of JSON ends with `\n`, and with the text. */
function endOfEscaped(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++)
    if (bytes[at] === BACKSLASH && (isEscapeLetter(bytes[at + 1]) || bytes[at + 1] === QUOTE)) return at
  return to
}

interface Opening {
  readonly inside: number
  readonly quote: number
  /** So many backslashes stand before it, and before the one that ends the value: JSON in JSON. */
  readonly depth: number
}

/** A quotation mark, with backslashes or one letter (`b'…'`, `@"…"`) before it; null if there is none. */
function openingQuote(bytes: Uint8Array, from: number): Opening | null {
  let at = from
  while (at - from < MAX_DEPTH && bytes[at] === BACKSLASH) at++
  const depth = at - from
  if (
    depth === 0 &&
    !isQuote(bytes[at]) &&
    isQuote(bytes[at + 1]) &&
    (isIn(bytes[at], NAME) || bytes[at] === 0x40)
  )
    at++
  const quote = bytes[at]
  return isQuote(quote) && quote !== undefined ? { inside: at + 1, quote, depth } : null
}

const MAX_DEPTH = 7

/** `Some("…")`, `SecretString("…")`: how languages print a value that may be missing, or is one. */
function wrappedQuote(bytes: Uint8Array, from: number): Opening | null {
  const wrapper = WRAPPERS.find((text) => standsAt(bytes, from, text))
  if (wrapper === undefined) return null
  const inside = from + wrapper.length
  // Rust's `{:#?}` and similar printers put what a wrapper holds into a line of its own.
  return openingQuote(bytes, endsLine(bytes[inside]) ? nextLine(bytes, inside) : inside)
}

/** The `string(9) "…"` that PHP's `var_dump` prints in the line below `["password"]=>`. */
function dumpedQuote(bytes: Uint8Array, arrowEnd: number): Opening | null {
  if (!endsLine(bytes[arrowEnd]) || bytes[arrowEnd - 1] !== GREATER) return null
  const from = nextLine(bytes, arrowEnd)
  if (!standsAt(bytes, from, 'string(')) return null
  const length = until(bytes, from + 7, Math.min(bytes.length, from + 14), (byte) => !isIn(byte, DIGIT))
  return standsAt(bytes, length, ') "') ? openingQuote(bytes, length + 2) : null
}

/** Where the text of the next line begins, if its indentation is not unusually deep. */
function nextLine(bytes: Uint8Array, lineEnd: number): number {
  const from = lineEnd + (bytes[lineEnd] === RETURN ? 2 : 1)
  return until(bytes, from, Math.min(bytes.length, from + MAX_INDENT_BYTES), (byte) => !isBlank(byte))
}

const MAX_INDENT_BYTES = 80

const WRAPPERS = [
  'some(',
  'ok(',
  'just ',
  'optional(',
  'string(',
  'secret(',
  'secretstring(',
  'secretstr(',
  'password(',
]

function endOfQuoted(bytes: Uint8Array, { inside, quote, depth }: Opening, end: number): number {
  const most = Math.min(end, inside + MAX_VALUE_BYTES)
  let slashes = 0
  for (let at = inside; at < most; at++) {
    const byte = bytes[at]
    if (byte === BACKSLASH) {
      slashes++
      continue
    }
    if (endsLine(byte)) return at
    if (byte === quote && (slashes === depth || (depth === 0 && slashes % 2 === 0))) return at - depth
    slashes = 0
  }
  return most
}

/** The next argument of a call, or the next cell of a table: `define('DB_PASSWORD', '…')`, `| password | … |`. */
function findNextText(found: Findings, { kind }: NameBefore, at: number): number {
  const { bytes, end } = found
  if (kind === null || kind === 'possible') return at
  let from = at + 1
  while (from < end && isBlank(bytes[from])) from++
  const opening = openingQuote(bytes, from)
  if (opening === null && bytes[at] === COMMA) return at
  if (opening !== null) from = opening.inside
  const to =
    opening === null
      ? until(bytes, from, end, (byte) => isBlank(byte) || byte === PIPE || endsLine(byte))
      : endOfQuoted(bytes, opening, end)
  const text = textOf(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES))
  // Lists of names have words there.
  const isSecret = isSecretValue(kind, text, opening === null ? 'bare' : 'sentence')
  if (found.mayGoOn(to)) found.addEarly(from, to)
  else if (isSecret || (opening !== null && looksGenerated(text.replaceAll(/[^\w]/g, ''))))
    found.add(from, to)
  else return at
  return to
}

/** A line of .pgpass, `host:5432:database:user:password`; `at` is the first colon. */
export function findPgpass(found: Findings, at: number): number {
  const { bytes, start, end } = found
  let line = at
  while (
    line > start &&
    at - line < MAX_HOST_BYTES &&
    (isIn(bytes[line - 1], WORD) || bytes[line - 1] === DOT)
  )
    line--
  if (line === at || (line > start && !endsLine(bytes[line - 1]))) return at
  const port = until(bytes, at + 1, end, (byte) => !isIn(byte, DIGIT))
  if (port - at < 5 || port - at > 6 || bytes[port] !== COLON) return at
  const endsField = (byte: number) => byte === COLON || isBlank(byte) || endsLine(byte)
  const database = until(bytes, port + 1, end, endsField)
  const user = bytes[database] === COLON ? until(bytes, database + 1, end, endsField) : end
  if (user >= end || bytes[user] !== COLON || isIn(bytes[port + 1], DIGIT)) return at
  const to = until(bytes, user + 1, end, (byte) => isBlank(byte) || endsLine(byte))
  if (found.mayGoOn(to)) found.addEarly(user + 1, to)
  else found.add(user + 1, to)
  return to
}

const MAX_HOST_BYTES = 253

/** `jdbc:oracle:thin:user/password@host` */
function findOracle(found: Findings, at: number): number {
  const { bytes, end } = found
  const user = until(
    bytes,
    at,
    end,
    (byte) => byte === SLASH || byte === AT || isBlank(byte) || endsLine(byte),
  )
  if (bytes[user] !== SLASH || user === at) return at - 1
  const to = until(
    bytes,
    user + 1,
    end,
    (byte) => byte === AT || isBlank(byte) || isQuote(byte) || endsLine(byte),
  )
  if (found.mayGoOn(to)) found.addEarly(user + 1, to)
  else if (bytes[to] === AT) found.add(user + 1, to)
  return to
}

/** `<password>value</password>`, `<property name="password">value</property>` */
function findElement(found: Findings, name: NameBefore, at: number): number {
  const { bytes, end } = found
  const isElement = bytes[name.from - 1] === LESS && name.to === at
  if (name.kind === null || !(isElement || isNamedElement(bytes, name))) return at
  const from = at + 1
  const most = Math.min(end, from + MAX_VALUE_BYTES)
  const to = until(bytes, from, most, (byte) => byte === LESS || endsLine(byte))
  // The end of the element takes two characters to see.
  if (found.mayGoOn(to) || (bytes[to] === LESS && found.mayGoOn(to + 1))) found.addEarly(from, to)
  else if (
    bytes[to] === LESS &&
    bytes[to + 1] === SLASH &&
    isSecretValue(name.kind, textOf(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES)), 'quoted')
  )
    found.add(from, to)
  else return at
  return to
}

/** Elements for settings. Others with a name hold text for people: `<a name="password">`. */
const NAMED_ELEMENT =
  /<(?:\w+:)?(?:property|prop|param|parameter|init-param|entry|setting|env|variable|item|systemproperty)\s[^<>]{0,60}(?:name|key)\s?=\s?["']$/i

function isNamedElement(bytes: Uint8Array, { from, isQuoted }: NameBefore): boolean {
  return isQuoted && NAMED_ELEMENT.test(textOf(bytes, Math.max(0, from - MAX_TAG_BYTES), from))
}

const MAX_TAG_BYTES = 96

function endsWord(found: Findings, byte: number, at: number): boolean {
  // One within a value belongs to it.
  if (byte === COMMA) {
    const next = found.bytes[at + 1]
    return at + 1 >= found.end ? !found.mayGoOn(found.end) : isBlank(next) || isQuote(next) || endsLine(next)
  }
  if (byte === BACKSLASH) {
    const next = found.bytes[at + 1]
    return isQuote(next) || isEscapeLetter(next)
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

/** `;`, `&`, `|`, `)`, `}`, `]`, `<` */
const ENDS: ReadonlySet<number> = new Set([0x3b, 0x26, 0x7c, 0x29, 0x7d, 0x5d, LESS])

/** `,` and `)` end an argument of a call: what stands there may be a variable. */
function endsArgument(byte: number | undefined): boolean {
  return byte === COMMA || byte === 0x29 || byte === 0x7d || byte === 0x5d
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
