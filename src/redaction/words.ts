import {
  BACKSLASH,
  BASE64,
  BRACKET,
  DASH,
  DIGIT,
  DOT,
  EQUALS,
  ESC,
  isIn,
  PERCENT,
  SETS,
  standsAt,
  UNDERSCORE,
  WORD,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { DOTTED_SHAPES, TOKEN_SHAPES, type TokenShape } from './token-shapes.ts'

/** No token is shorter, with its beginning. */
export const SHORTEST_WORD = 16

/**
 * A token in the word from `from` to `to`, or begun by it. Answers with where it ends; `to` if there is none. `isJoined`: it
 * may be several words, joined.
 */
export function findToken(found: Findings, from: number, to: number, isJoined: boolean): number {
  const { bytes } = found
  const begins = from > found.start || found.clean
  if (begins) {
    const behind = findBearer(found, from, to) ?? findDotted(found, from, to)
    if (behind !== undefined) return behind
  }
  const cut = afterEscape(bytes, from, to)
  const last = isJoined ? to : Math.min(to, Math.max(from, cut) + 1)
  for (let at = from; at < last; at++) {
    const first = at === from ? begins : at === cut || isJoint(bytes[at - 1])
    if (!first) continue
    const shapes = BY_FIRST[bytes[at] as number]
    if (shapes === undefined) continue
    const behind = bytes[at] === SMALL_E ? findJwt(found, at, to) : findShape(found, shapes, at, to)
    if (behind !== undefined) return behind
  }
  return to
}

const SMALL_E = 0x65
const BEARER = 'bearer '
const LEAST_BEARER = 20
const LEAST_HEADER = 12
const LEAST_CLAIMS = 8

/** Words are joined with these, and a token may be a part: `token-ghp_…`. */
function isJoint(byte: number | undefined): boolean {
  return byte === DASH || byte === UNDERSCORE
}

/** By first byte, the longest beginnings first: of two that fit, that one says what it is. */
const BY_FIRST: (readonly TokenShape[] | undefined)[] = []
for (const shape of [...TOKEN_SHAPES].sort((one, other) => other.prefix.length - one.prefix.length)) {
  const first = shape.prefix.charCodeAt(0)
  BY_FIRST[first] = [...(BY_FIRST[first] ?? []), shape]
}
BY_FIRST[SMALL_E] = []

function findShape(
  found: Findings,
  shapes: readonly TokenShape[],
  at: number,
  to: number,
): number | undefined {
  const { bytes } = found
  for (const { prefix, least, of } of shapes) {
    if (!beginsWith(bytes, at, to, prefix)) continue
    const secret = at + prefix.length
    let count = secret
    while (count < to && count - secret < least && isIn(bytes[count], of)) count++
    if (count - secret >= least) {
      found.add(secret, to)
      return to
    }
    if (count === to && found.mayGoOn(to)) found.addEarly(secret, to)
  }
  return undefined
}

/** `eyJ`, which is `{"` in base64, then a dot and as much again: header, claims, signature. */
function findJwt(found: Findings, at: number, to: number): number | undefined {
  const { bytes, end } = found
  if (!beginsWith(bytes, at, to, 'eyJ')) return undefined
  const secret = at + 3
  if (found.mayGoOn(to)) {
    found.addEarly(secret, to)
    return to
  }
  if (to - at < LEAST_HEADER || bytes[to] !== DOT) return undefined
  const behind = endOfDotted(bytes, to, end)
  if (behind - to > LEAST_CLAIMS) found.add(secret, behind)
  else if (found.mayGoOn(behind)) found.addEarly(secret, behind)
  else return undefined
  return behind
}

function findDotted(found: Findings, from: number, to: number): number | undefined {
  const { bytes } = found
  if (bytes[from - 1] !== DOT) return undefined
  for (const { prefix, least } of DOTTED_SHAPES) {
    const start = from - prefix.length
    if (start < found.start || !beginsWith(bytes, start, to, prefix)) continue
    if (start > 0 && isIn(bytes[start - 1], WORD)) continue
    const behind = endOfDotted(bytes, to, found.end)
    if (to - from >= least) found.add(from, behind)
    else if (found.mayGoOn(to)) found.addEarly(from, to)
    else continue
    return behind
  }
  return undefined
}

function findBearer(found: Findings, from: number, to: number): number | undefined {
  const { bytes } = found
  if (from - BEARER.length < found.start || !standsAt(bytes, from - BEARER.length, BEARER)) return undefined
  let behind = to
  while (behind < found.end && (isIn(bytes[behind], WORD | BASE64) || bytes[behind] === DOT)) behind++
  if (behind - from >= LEAST_BEARER && hasDigit(bytes, from, behind)) found.add(from, behind)
  else if (found.mayGoOn(behind)) found.addEarly(from, behind)
  else return undefined
  return behind
}

function endOfDotted(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && (isIn(bytes[at], WORD) || bytes[at] === DOT || bytes[at] === EQUALS)) at++
  return at
}

function beginsWith(bytes: Uint8Array, at: number, to: number, prefix: string): boolean {
  if (at + prefix.length > to) return false
  for (let index = 0; index < prefix.length; index++)
    if (bytes[at + index] !== prefix.charCodeAt(index)) return false
  return true
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (isIn(bytes[at], DIGIT)) return true
  return false
}

/**
 * Where the word really begins, if its first letters belong to what stands before it: a colour (`ESC [ 3 2 m`), an escaped
 * line end (`\n`), a character of a URL (`%3D`). -1 if they do not.
 */
function afterEscape(bytes: Uint8Array, from: number, to: number): number {
  const before = bytes[from - 1]
  if (before === BACKSLASH) return from + 1
  if (before === PERCENT) return from + 2
  if (before !== BRACKET && before !== SEMICOLON && before !== ROUND) return -1
  if (before === ROUND) return bytes[from - 2] === ESC ? from + 1 : -1
  let opening = from - 1
  while (isIn(bytes[opening], DIGIT) || bytes[opening] === SEMICOLON) opening--
  if (bytes[opening] !== BRACKET || bytes[opening - 1] !== ESC) return -1
  let final = from
  while (final < to && ((SETS[bytes[final] as number] as number) & DIGIT) !== 0) final++
  return final + 1
}

/** Whether a colour, or another sequence of a terminal, ends right before `at`. */
export function isBehindEscape(bytes: Uint8Array, at: number): boolean {
  let opening = at - 2
  while (at - opening < MOST_ESCAPE && (isIn(bytes[opening], DIGIT) || bytes[opening] === SEMICOLON))
    opening--
  return bytes[opening] === BRACKET && bytes[opening - 1] === ESC
}

const SEMICOLON = 0x3b
const ROUND = 0x28
const MOST_ESCAPE = 32
