import {
  ALNUM,
  BACKSLASH,
  BASE64,
  BRACKET,
  DASH,
  DIGIT,
  DOT,
  EQUALS,
  HEX,
  isIn,
  PERCENT,
  SETS,
  STAR,
  standsAt,
  UNDERSCORE,
  UPPER_OR_DIGIT,
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
    const behind = findBearer(found, from, to) ?? findDotted(found, from, to) ?? findParts(found, from, to)
    if (behind !== undefined) return behind
  }
  const cut = afterEscape(bytes, from, to)
  const last = isJoined ? to : Math.min(to, Math.max(from, cut) + 1)
  for (let at = from; at < last; at++) {
    const first = at === from ? begins : at === cut || isJoint(bytes[at - 1])
    if (!first) continue
    const shapes = BY_FIRST_TWO[indexOfTwo(bytes[at] ?? 0, bytes[at + 1] ?? 0)]
    if (shapes === undefined) continue
    const behind = findShape(found, shapes, at, to) ?? findJwt(found, at, to)
    if (behind !== undefined) return behind
  }
  return to
}

const BEARER = 'bearer '
const LEAST_BEARER = 20
const LEAST_HEADER = 12
const LEAST_CLAIMS = 8

/** Words are joined with these, and a token may be a part: `token-ghp_…`. */
function isJoint(byte: number | undefined): boolean {
  return byte === DASH || byte === UNDERSCORE
}

/** By the first two bytes, the longest prefixes first: of two that match, the longer one says more. */
const BY_FIRST_TWO: (readonly TokenShape[] | undefined)[] = new Array(65_536).fill(undefined)
for (const shape of [...TOKEN_SHAPES].sort((one, other) => other.prefix.length - one.prefix.length)) {
  const index = indexOfTwo(shape.prefix.charCodeAt(0), shape.prefix.charCodeAt(1))
  BY_FIRST_TWO[index] = [...(BY_FIRST_TWO[index] ?? []), shape]
}
// JSON Web Tokens, which are no shape of one word.
BY_FIRST_TWO[indexOfTwo(0x65, 0x79)] ??= []

function indexOfTwo(first: number, second: number): number {
  return (first << 8) | second
}

function findShape(
  found: Findings,
  shapes: readonly TokenShape[],
  at: number,
  to: number,
): number | undefined {
  const { bytes } = found
  for (const { prefix, least, of, rest } of shapes) {
    if (!beginsWith(bytes, at, to, prefix)) continue
    // The middle of base64, which may look like anything.
    if (
      isLetters(prefix) &&
      (bytes[at - 1] === PLUS || (bytes[at - 1] === SLASH && isIn(bytes[at - 2], BASE64)))
    )
      continue
    const secret = at + prefix.length
    let count = secret
    while (count < to && count - secret < least && isIn(bytes[count], of)) count++
    if (count - secret >= least) {
      if (!found.mayGoOn(to) && !isVaried(bytes, secret, to)) continue
      const end = rest === undefined ? to : endOfRest(found, to, rest)
      found.add(secret, end)
      // Dots that end a sentence are no part of it, but may be followed by one.
      if (found.mayGoOn(behindDots(bytes, end, found.end))) found.addEarly(end, found.end)
      return end
    }
    if (count === to && found.mayGoOn(to)) found.addEarly(secret, to)
  }
  return undefined
}

const PLUS = 0x2b
const SLASH = 0x2f
const TILDE = 0x7e

function isLetters(prefix: string): boolean {
  const last = prefix.charCodeAt(prefix.length - 1)
  return last !== DASH && last !== UNDERSCORE
}

/** Has digits, or letters of both cases: names of functions and files have not. */
function isVaried(bytes: Uint8Array, from: number, to: number): boolean {
  let sets = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number
    if (isIn(byte, DIGIT)) return true
    if (isIn(byte, UPPER_OR_DIGIT)) sets |= 1
    else if (isIn(byte, ALNUM)) sets |= 2
    if (sets === 3) return true
  }
  // Masked before.
  return bytes[from] === STAR
}

/** As far as the token goes on, less the dots that end a sentence. */
function endOfRest(found: Findings, to: number, rest: number): number {
  const { bytes, end } = found
  let at = to
  while (at < end && isIn(bytes[at], rest)) at++
  while (at > to && isSentenceEnd(bytes[at - 1])) at--
  return at
}

function isSentenceEnd(byte: number | undefined): boolean {
  return byte === DOT || byte === SLASH
}

function behindDots(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && isSentenceEnd(bytes[at])) at++
  return at
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
  const before = bytes[from - 1]
  if (before !== DOT && before !== TILDE && before !== SLASH) return undefined
  for (const { prefix, least } of DOTTED_SHAPES) {
    const start = from - prefix.length
    if (prefix.charCodeAt(prefix.length - 1) !== before) continue
    if (start < found.start || !beginsWith(bytes, start, to, prefix)) continue
    if (start > 0 && isIn(bytes[start - 1], WORD)) continue
    const behind = endOfDotted(bytes, to, found.end)
    if (to - from >= least && isVaried(bytes, from, to))
      found.add(prefix === TERRAFORM ? wordBefore(bytes, start) : from, behind)
    else if (found.mayGoOn(to)) found.addEarly(from, to)
    else continue
    return behind
  }
  return undefined
}

/** A token of Terraform has its first part before this. */
const TERRAFORM = 'atlasv1.'

function wordBefore(bytes: Uint8Array, dot: number): number {
  let at = dot - 1
  while (at > 0 && dot - at < 32 && isIn(bytes[at - 1], ALNUM)) at--
  return Math.min(at, dot)
}

/**
 * Tokens that are known by how long their parts are: a bot's of Discord (24 to 28, 6 and 27 or more characters with dots in
 * between) and of Telegram (a number, a colon, 35 characters), those of Airtable, client secrets of Azure.
 */
function findParts(found: Findings, from: number, to: number): number | undefined {
  const { bytes } = found
  const length = to - from
  if (bytes[to] === DOT && length >= 17 && length <= 30) {
    const second = endOfWord(bytes, to + 1, found.end)
    const third = bytes[second] === DOT ? endOfWord(bytes, second + 1, found.end) : second
    const isDiscord =
      length >= 23 &&
      second - to === 7 &&
      third - second > 27 &&
      (bytes[from] === 0x4d || bytes[from] === 0x4e || bytes[from] === 0x4f)
    const isAirtable =
      length === 17 && second - to === 65 && standsAt(bytes, from, 'pat') && isAll(bytes, to + 1, second, HEX)
    if (isDiscord || isAirtable) return added(found, from, isDiscord ? third : second)
    const mayBecome = (length >= 23 && second - to <= 7) || (length === 17 && standsAt(bytes, from, 'pat'))
    if (mayBecome && (found.mayGoOn(second) || found.mayGoOn(third))) {
      found.addEarly(from, third)
      return third
    }
  }
  if (bytes[from - 1] === COLON && length >= 33 && length <= 40 && bytes[from] === 0x41) {
    let digits = from - 1
    while (from - digits < 14 && isIn(bytes[digits - 1], DIGIT)) digits--
    if (from - digits >= 9 && isVaried(bytes, from, to)) {
      if (!found.mayGoOn(to)) return added(found, from, to)
      found.addEarly(from, to)
      return to
    }
  }
  if (bytes[from - 1] === TILDE && bytes[from - 2] === 0x51 && length >= 24) {
    const start = from - 6
    const behind = endOfDotted(bytes, to, found.end)
    if (isIn(bytes[from - 3], DIGIT)) return added(found, Math.max(found.start, start), behind)
  }
  return undefined
}

const COLON = 0x3a

function added(found: Findings, from: number, to: number): number {
  found.add(from, to)
  return to
}

function endOfWord(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && isIn(bytes[at], WORD)) at++
  return at
}

function isAll(bytes: Uint8Array, from: number, to: number, set: number): boolean {
  for (let at = from; at < to; at++) if (!isIn(bytes[at], set)) return false
  return true
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
 * Where the word really begins, if its first letters belong to what stands before it: an escaped line end (`\\n`), a colour as
 * JSON and shells write it (`\\u001b[32m`), a character of a URL (`%3D`). -1 if they do not.
 */
function afterEscape(bytes: Uint8Array, from: number, to: number): number {
  const before = bytes[from - 1]
  if (before === BACKSLASH) return from + 1
  if (before === PERCENT) return from + 2
  if (before !== BRACKET && before !== SEMICOLON) return -1
  let opening = from - 1
  while (isIn(bytes[opening], DIGIT) || bytes[opening] === SEMICOLON) opening--
  if (
    bytes[opening] !== BRACKET ||
    !WRITTEN_ESCAPES.some((text) => standsAt(bytes, opening - text.length, text))
  )
    return -1
  let final = from
  while (final < to && ((SETS[bytes[final] as number] as number) & DIGIT) !== 0) final++
  return final + 1
}

const SEMICOLON = 0x3b
const WRITTEN_ESCAPES = ['\\u001b', '\\x1b', '\\033', '\\e']
