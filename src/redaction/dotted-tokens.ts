import { ALNUM, COLON, DIGIT, DOT, EQUALS, HEX, isIn, SLASH, standsAt, TILDE, WORD } from './characters.ts'
import type { Findings } from './findings.ts'
import { beginsWith, isVaried } from './token-bytes.ts'
import { DOTTED_SHAPES } from './token-shapes.ts'

const MIN_HEADER_BYTES = 12
const MIN_CLAIMS_BYTES = 8

/** A JSON Web Token: `eyJ`, which is `{"` in base64, and after dots the claims and the signature. */
export function findJwt(found: Findings, at: number, to: number): number | undefined {
  const { bytes, end } = found
  if (!beginsWith(bytes, at, to, 'eyJ')) return undefined
  const secret = at + 3
  if (found.mayContinue(to)) {
    found.addTentative(secret, to)
    return to
  }
  if (to - at < MIN_HEADER_BYTES || bytes[to] !== DOT) return undefined
  const behind = endOfDotted(bytes, to, end)
  if (behind - to > MIN_CLAIMS_BYTES) found.add(secret, behind)
  else if (found.mayContinue(behind)) found.addTentative(secret, behind)
  else return undefined
  return behind
}

export function findDotted(found: Findings, from: number, to: number): number | undefined {
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
    else if (found.mayContinue(to)) found.addTentative(from, to)
    else continue
    return behind
  }
  return undefined
}

/** In Terraform tokens this stands between the first part and the rest. */
const TERRAFORM = 'atlasv1.'

function wordBefore(bytes: Uint8Array, dot: number): number {
  let at = dot - 1
  while (at > 0 && dot - at < 32 && isIn(bytes[at - 1], ALNUM)) at--
  return Math.min(at, dot)
}

/**
 * Tokens that are recognised by the lengths of their parts: a bot's of Discord (24 to 28, 6 and 27 or more characters with dots in
 * between) and of Telegram (a number, a colon, 35 characters), those of Airtable, client secrets of Azure.
 */
export function findParts(found: Findings, from: number, to: number): number | undefined {
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
    if (mayBecome && (found.mayContinue(second) || found.mayContinue(third))) {
      found.addTentative(from, third)
      return third
    }
  }
  if (bytes[from - 1] === COLON && length >= 33 && length <= 40 && bytes[from] === 0x41) {
    let digits = from - 1
    while (from - digits < 14 && isIn(bytes[digits - 1], DIGIT)) digits--
    if (from - digits >= 9 && isVaried(bytes, from, to)) {
      if (!found.mayContinue(to)) return added(found, from, to)
      found.addTentative(from, to)
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

function endOfDotted(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && (isIn(bytes[at], WORD) || bytes[at] === DOT || bytes[at] === EQUALS)) at++
  return at
}
