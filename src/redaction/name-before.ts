import {
  BACKSLASH,
  BEFORE_SEPARATOR,
  CLOSING_BRACKET,
  COLON,
  DASH,
  DIGIT,
  DOT,
  EQUALS,
  GREATER,
  isBlank,
  isIn,
  isQuote,
  KEY_PART,
  NAME,
  PIPE,
  PLUS,
  QUESTION,
  STAR,
  UNDERSCORE,
  UPPER_OR_DIGIT,
} from './characters.ts'
import type { SecretKind } from './secret-kind.ts'
import { kindOfWords, secretKindOf, wordsOf } from './secret-name.ts'
import { NEUTRAL_ENDINGS, PASSWORD_WORDS, SHORT_PASSWORD_WORDS } from './secret-words.ts'
import { textOf } from './text-of.ts'
import { wordSet } from './word-set.ts'

/** A name before `=`, `:` or `>`. */
export interface NameBefore {
  readonly text: string
  readonly kind: SecretKind | null
  readonly from: number
  readonly to: number
  /** A quotation mark directly behind the name: the name alone is quoted. */
  readonly isQuoted: boolean
  /** Blanks stand directly behind the name. */
  readonly isSpaced: boolean
  /** Other words stand before it, as in a sentence. */
  readonly isSentence: boolean
  /** Only capitals, as variables of the environment have. */
  readonly isVariable: boolean
}

const MAX_NAME_BYTES = 128
const MAX_SENTENCE_BYTES = 40

/** The name that ends at `at`; null if it is obviously not the name of a secret. */
export function nameBefore(bytes: Uint8Array, start: number, at: number): NameBefore | null {
  let to = at
  // `:=`, `?=`, `+=`, `||=`
  if (bytes[at] === EQUALS) while (to > start && at - to < 2 && isOperator(bytes[to - 1])) to--
  const spaced = to
  while (to > start && at - to < MAX_NAME_BYTES && isBlank(bytes[to - 1])) to--
  const isSpaced = to < spaced
  if (bytes[to - 1] === CLOSING_BRACKET && (isQuote(bytes[to - 2]) || isArrow(bytes, at))) to--
  const isQuoted = to > start && isQuote(bytes[to - 1])
  if (isQuoted) {
    to--
    while (to > start && bytes[to - 1] === BACKSLASH) to--
  }
  if (isQuoted && bytes[at] === COLON && isIn(bytes[at - 2], KEY_PART)) {
    const part = keyPart(bytes, start, to)
    if (part !== null) return { ...part, isQuoted, isSpaced, isSentence: false, isVariable: false }
  }
  if (!mayEndName(bytes, to)) return null
  const first = Math.max(start, to - MAX_NAME_BYTES)
  let from = to
  while (from > first && isNameByte(bytes[from - 1])) from--
  // The `n` of `\\n` belongs to the line before, as JSON writes it.
  if (bytes[from - 1] === BACKSLASH && isEscapeLetter(bytes[from])) from++
  // `-` and `.` join words, and begin none.
  while (from < to && !isIn(bytes[from], NAME)) from++
  if (to - from < 2) return null
  const text = textOf(bytes, from, to)
  const own = secretKindOf(text)
  // `default:` is a case of a program.
  if (own === null && (!OPEN_NAMES.test(text) || (text === 'default' && bytes[at] !== EQUALS))) return null
  const before = bytes[at] === COLON && !isQuoted ? wordsBefore(bytes, start, from) : ''
  const kind = before === '' ? own : kindOfWords(wordsOf(`${before} ${text}`), false)
  return {
    text,
    kind,
    from,
    to,
    isQuoted,
    isSpaced,
    isSentence: before !== '',
    isVariable: VARIABLE.test(text),
  }
}

/** `"d":`, `"dp":` and the others that make a JSON Web Key a private one. */
function keyPart(bytes: Uint8Array, start: number, to: number) {
  let from = to
  while (from > start && to - from < 3 && isIn(bytes[from - 1], NAME)) from--
  const text = textOf(bytes, from, to)
  return isQuote(bytes[from - 1]) && /^(?:d|dp|dq|qi|[pqk])$/.test(text)
    ? { text, kind: 'possible' as const, from, to }
    : null
}

/** Names that suggest a kind only together with the words before them, and names of values and cookies. */
const OPEN_NAMES = /^(?:key|phrase|id|string|hash|value|val|\w*Value|thin|default)$|cookie2?$|authorization$/i

/** `n`, `r`, `t` */
export function isEscapeLetter(byte: number | undefined): boolean {
  return byte === 0x6e || byte === 0x72 || byte === 0x74
}

const VARIABLE = /^[A-Z][A-Z0-9_]{2,}$/

/** `[password] => …`: how PHP prints an array. */
function isArrow(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === EQUALS && bytes[at + 1] === GREATER
}

function isOperator(byte: number | undefined): boolean {
  return byte === COLON || byte === QUESTION || byte === PLUS || byte === PIPE
}

function isNameByte(byte: number | undefined): boolean {
  return isWordByte(byte) || byte === DASH || byte === DOT
}

/** Stars count as word bytes: they mask a former word. */
function isWordByte(byte: number | undefined): boolean {
  return isIn(byte, NAME) || byte === STAR
}

/** Words right before a name, parted by one blank: `Your new API` of `Your new API key:`. */
function wordsBefore(bytes: Uint8Array, start: number, from: number): string {
  const first = Math.max(start, from - MAX_SENTENCE_BYTES)
  let at = from
  while (at - 1 > first && bytes[at - 1] === 0x20 && isWordByte(bytes[at - 2])) {
    at--
    while (at > first && isWordByte(bytes[at - 1])) at--
  }
  return at === from ? '' : textOf(bytes, at, from - 1)
}

/** Other words, or the ends of words, that end the name of a secret. */
const OTHER_ENDINGS_OF_NAMES = wordSet(
  'secret token key credential credentials creds auth pat dsn url uri string connectionstring phrase mnemonic jwt ' +
    'sig signature salt pepper otp totp pin cookie _id -id yid tid val api assertion response verifier thin',
)

/** By the last three letters of a name, five bits of each: whether it may be the name of a secret. */
const LAST_THREE = new Uint8Array(32_768)

for (const word of [
  ...PASSWORD_WORDS,
  ...SHORT_PASSWORD_WORDS,
  ...NEUTRAL_ENDINGS,
  ...OTHER_ENDINGS_OF_NAMES,
]) {
  const codes = [...word.slice(-3)].map((letter) => letter.charCodeAt(0) & 31)
  if (codes.length === 3) LAST_THREE[indexOf(codes[0] ?? 0, codes[1] ?? 0, codes[2] ?? 0)] = 1
  else for (let any = 0; any < 32; any++) LAST_THREE[indexOf(any, codes[0] ?? 0, codes[1] ?? 0)] = 1
}

function indexOf(first: number, second: number, third: number): number {
  return (first << 10) | (second << 5) | third
}

function isCapital(byte: number | undefined): boolean {
  return byte === UNDERSCORE || (isIn(byte, UPPER_OR_DIGIT) && !isIn(byte, DIGIT))
}

/** A quick look at the last letters of a name: nearly all text goes no further than this. */
export function mayEndName(bytes: Uint8Array, to: number): boolean {
  const [third = 0, second = 0, first = 0] = [bytes[to - 1], bytes[to - 2], bytes[to - 3]]
  if (!isIn(third, NAME)) return false
  if (LAST_THREE[indexOf(first & 31, second & 31, third & 31)] === 1) return true
  if (isCapital(third)) return isCapital(second)
  // `authorization`
  if ((third & 31) === 14 && ((bytes[to - 6] ?? 0) & 31) === 26) return true
  return isIn(third, DIGIT) && endsWithNumber(bytes, to)
}

/** `password2` */
function endsWithNumber(bytes: Uint8Array, to: number): boolean {
  let at = to - 1
  while (to - at < 4 && isIn(bytes[at - 1], DIGIT)) at--
  return !isIn(bytes[at - 1], DIGIT) && mayEndName(bytes, at)
}

/** A quick check of the bytes before a separator, without blanks and quotation marks. */
export function mayFollowName(bytes: Uint8Array, at: number): boolean {
  let to = at
  let byte = bytes[to - 1]
  if (isIn(byte, NAME)) return mayEndName(bytes, to)
  if (!isIn(byte, BEFORE_SEPARATOR)) return false
  while (at - to < MAX_NAME_BYTES && isIn(byte, BEFORE_SEPARATOR) && !isIn(byte, NAME)) byte = bytes[--to - 1]
  while (byte === BACKSLASH) byte = bytes[--to - 1]
  return mayEndName(bytes, to) || (bytes[at] === COLON && isIn(byte, KEY_PART) && at - to < 3)
}
