import {
  BACKSLASH,
  BASE64,
  COLON,
  COMMA,
  DIGIT,
  DOT,
  EQUALS,
  isBlank,
  isIn,
  isLineEnd,
  isQuote,
  NAME,
  STAR,
  standsAt,
  WORD,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { isReference } from './secret-value.ts'
import { textOf } from './text-of.ts'
import { isPlaceholder } from './urls.ts'
import { wordSet } from './word-set.ts'

/**
 * Finds the credentials of `Authorization: Bearer …`; its name ends at `name`.
 *
 * | context                                              | credentials                                                  |
 * | a header: `Authorization:`, in JSON, after `-H`      | the rest of the line or of the quoted text, without the scheme |
 * | a sentence, or with `=`                              | the word after a scheme, or one that looks like a token      |
 *
 * Source code stays: a type, a variable, a call. Returns where the credentials end, or `name`.
 */
export function findHeader(found: Findings, name: number): number {
  const { bytes, end } = found
  let at = name
  while (at - name < MAX_MARKS && isMark(bytes[at])) at++
  if (bytes[at] !== COLON && bytes[at] !== EQUALS) return name
  let value = at + 1
  while (value < end && (isBlank(bytes[value]) || isMark(bytes[value]))) value++
  const credentials = behindScheme(bytes, value, end)
  const from = credentials ?? value
  if (isPlaceholder(bytes[from]) || isPlaceholderText(found, from)) return name
  if (bytes[at] === COLON && isHeader(found, name)) {
    const opened = isQuote(bytes[value - 1]) ? bytes[value - 1] : bytes[name - NAME_LENGTH - 1]
    if (credentials === null && (isCode(found, from) || isSentence(found, from))) return name
    const to = endOfHeader(bytes, from, end, opened)
    // An incomplete value may still become a type, a variable or a placeholder.
    if (found.mayContinue(to)) found.addTentative(from, to)
    else if (to - from >= MIN_CREDENTIALS_BYTES) found.add(from, to)
    return to
  }
  let to = from
  while (to < end && !endsCredentials(bytes[to])) to++
  const isSecret = credentials === null ? looksLikeToken(bytes, from, to) : to - from >= MIN_CREDENTIALS_BYTES
  if (found.mayContinue(to)) found.addTentative(from, to)
  else if (isSecret) found.add(from, to)
  return to
}

/** `my-token`, `YOUR_TOKEN`, `DPoP <token>`, `Bearer` alone, `() => …`: from manuals and source code. */
function isPlaceholderText(found: Findings, from: number): boolean {
  const { bytes, end } = found
  let to = from
  while (to < end && to - from < MAX_PLACEHOLDER_BYTES && !isLineEnd(bytes[to]) && !isMark(bytes[to])) to++
  if (found.mayContinue(to)) return false
  const text = textOf(bytes, from, to).trimEnd()
  return isReference(text) || /^(?:\(.*\) ?=>|[A-Za-z]+ [<{$]|(?:Bearer|Basic|Digest)$)/.test(text)
}

/** Prose about the header, or a link. */
function isSentence(found: Findings, from: number): boolean {
  const { bytes, end } = found
  let to = from
  while (to < end && to - from < MAX_CODE_BYTES && !isLineEnd(bytes[to])) to++
  if (found.mayContinue(to)) return false
  const text = textOf(bytes, from, to)
  return /^https?:\/\//.test(text) || /^[a-z]+(?: [a-z]+){2,}[.,:;)]?/.test(text)
}

const MAX_PLACEHOLDER_BYTES = 64
const NAME_LENGTH = 'authorization'.length

/** With a capital letter, or not after a word of a sentence. */
function isHeader({ bytes, start }: Findings, name: number): boolean {
  let at = name - NAME_LENGTH
  const isCapital = bytes[at] === 0x41
  if (at > start && isIn(bytes[at - 1], NAME)) return false
  while (at > start && isBlank(bytes[at - 1])) at--
  // Masked text was a word, too.
  return isCapital || at === start || !(isIn(bytes[at - 1], NAME) || bytes[at - 1] === STAR)
}

/** The end of the line, also an escaped one, or a quotation mark, unless it quotes a parameter such as `response="…"`. */
function endOfHeader(bytes: Uint8Array, from: number, end: number, opened: number | undefined): number {
  let parameter: number | undefined
  for (let at = from; at < end; at++) {
    const byte = bytes[at]
    if (isLineEnd(byte)) return at
    if (byte === BACKSLASH && (bytes[at + 1] === SMALL_N || bytes[at + 1] === SMALL_R)) return at
    if (!isQuote(byte)) continue
    const isEscaped = bytes[at - 1] === BACKSLASH
    const before = bytes[isEscaped ? at - 2 : at - 1]
    if (parameter === byte) parameter = undefined
    else if (parameter !== undefined) continue
    else if (before === EQUALS && byte !== opened) parameter = byte
    else return isEscaped ? Math.max(from, at - 1) : at
  }
  return end
}

const SMALL_N = 0x6e
const SMALL_R = 0x72

/** Source code: a type, a variable, a call. */
function isCode(found: Findings, from: number): boolean {
  const { bytes, end } = found
  let text = ''
  let at = from
  for (; at < end && text.length < MAX_CODE_BYTES && !isLineEnd(bytes[at]); at++)
    text += String.fromCharCode(bytes[at] as number)
  const word = /^[\w.-]*/.exec(text)?.[0] ?? ''
  return !found.mayContinue(at) && !looksLikeToken(bytes, from, from + word.length) && CODE.test(text)
}

const MAX_CODE_BYTES = 200
const CODE =
  /^(?:(?:await|new|typeof|return) |[!(])*(?:(?:string|undefined|null|true|false|any|unknown|required|optional|none)\b|[A-Za-z_$][\w$]*\s*(?:[,;)\]}(.[?]|[|&] |=[=>]|\|\|))|^[=>)\]}|,;{[]/
const SCHEMES = wordSet(
  'bearer basic token apikey negotiate bot digest oauth ssws hawk ntlm aws4-hmac-sha256 key jwt',
)
const MIN_CREDENTIALS_BYTES = 4
const MIN_TOKEN_BYTES = 16
/** `\"` after the name in JSON within JSON. */
const MAX_MARKS = 3

function isMark(byte: number | undefined): boolean {
  return isQuote(byte) || byte === BACKSLASH
}

function endsCredentials(byte: number | undefined): boolean {
  return isBlank(byte) || isLineEnd(byte) || isMark(byte) || byte === COMMA
}

function behindScheme(bytes: Uint8Array, at: number, end: number): number | null {
  for (const scheme of SCHEMES) {
    if (!standsAt(bytes, at, scheme) || !isBlank(bytes[at + scheme.length])) continue
    let behind = at + scheme.length
    while (behind < end && isBlank(bytes[behind])) behind++
    return behind
  }
  return null
}

function looksLikeToken(bytes: Uint8Array, from: number, to: number): boolean {
  let digits = 0
  for (let at = from; at < to; at++) {
    if (!isIn(bytes[at], WORD | BASE64) && bytes[at] !== DOT) return false
    if (isIn(bytes[at], DIGIT)) digits++
  }
  return to - from >= MIN_TOKEN_BYTES && digits > 0
}
