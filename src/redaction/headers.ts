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
  standsAt,
  WORD,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { isPlaceholder } from './urls.ts'

/** How the name of the header ends, in the two ways in which it is written: what it begins with is either. */
export const HEADER_ENDS = [Buffer.from('uthorization'), Buffer.from('UTHORIZATION')]

/**
 * The credentials of `Authorization: Bearer …`, as a header, in JSON, or on a command line; its name ends at `name`. Without a
 * scheme only what looks like a token counts: a type or a variable of a program may stand there.
 */
export function findHeader(found: Findings, name: number): void {
  const { bytes, end } = found
  let at = name
  while (at - name < MOST_MARKS && isMark(bytes[at])) at++
  if (bytes[at] !== COLON && bytes[at] !== EQUALS) return
  let value = at + 1
  while (value < end && (isBlank(bytes[value]) || isMark(bytes[value]))) value++
  const credentials = behindScheme(bytes, value, end)
  const from = credentials ?? value
  if (isPlaceholder(bytes[from])) return
  let to = from
  while (to < end && !endsCredentials(bytes[to])) to++
  const isSecret = credentials === null ? looksLikeToken(bytes, from, to) : to - from >= LEAST
  if (isSecret) found.add(from, to)
  else if (found.mayGoOn(to)) found.addEarly(from, to)
}

const SCHEMES = ['bearer', 'basic', 'token', 'apikey', 'negotiate', 'bot']
const LEAST = 4
const LEAST_TOKEN = 16
/** `\"` after the name in JSON within JSON. */
const MOST_MARKS = 3

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
  return to - from >= LEAST_TOKEN && digits > 0
}
