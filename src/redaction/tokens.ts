import { BASE64, DASH, DIGIT, DOT, isIn, PLUS, SLASH, standsAt, UNDERSCORE, WORD } from './characters.ts'
import { findDotted, findJwt, findParts } from './dotted-tokens.ts'
import type { Findings } from './findings.ts'
import { beginsWith, isVaried } from './token-bytes.ts'
import { TOKEN_SHAPES, type TokenShape } from './token-shapes.ts'
import { afterEscape } from './written-escapes.ts'

/** No token is shorter, with its prefix. */
export const MIN_TOKEN_WORD_BYTES = 16

/**
 * Finds a token in the word from `from` to `to`, or one that begins with it. Returns where it ends; `to` if there is none.
 * `isJoined`: the word may consist of several words.
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
const MIN_BEARER_BYTES = 20

/** Joins words; a token may be one of them: `token-ghp_…`. */
function isJoint(byte: number | undefined): boolean {
  return byte === DASH || byte === UNDERSCORE
}

/** By the first two bytes, the longest prefixes first, because they are more specific. */
const BY_FIRST_TWO: (readonly TokenShape[] | undefined)[] = new Array(65_536).fill(undefined)
for (const shape of [...TOKEN_SHAPES].sort((one, other) => other.prefix.length - one.prefix.length)) {
  const index = indexOfTwo(shape.prefix.charCodeAt(0), shape.prefix.charCodeAt(1))
  BY_FIRST_TWO[index] = [...(BY_FIRST_TWO[index] ?? []), shape]
}
// JSON Web Tokens, which have several parts.
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
    // The middle of base64 may look like any prefix.
    if (
      isLetters(prefix) &&
      (bytes[at - 1] === PLUS || (bytes[at - 1] === SLASH && isIn(bytes[at - 2], BASE64)))
    )
      continue
    const secret = at + prefix.length
    let count = secret
    while (count < to && count - secret < least && isIn(bytes[count], of)) count++
    if (count - secret >= least) {
      if (!found.mayContinue(to) && !isVaried(bytes, secret, to)) continue
      const end = rest === undefined ? to : endOfRest(found, to, rest)
      found.add(secret, end)
      // Dots may end the sentence, or be followed by another part of the token.
      if (found.mayContinue(behindDots(bytes, end, found.end))) found.addTentative(end, found.end)
      return end
    }
    if (count === to && found.mayContinue(to)) found.addTentative(secret, to)
  }
  return undefined
}

function isLetters(prefix: string): boolean {
  const last = prefix.charCodeAt(prefix.length - 1)
  return last !== DASH && last !== UNDERSCORE
}

/** The end of the token, without the dots that end a sentence. */
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

function findBearer(found: Findings, from: number, to: number): number | undefined {
  const { bytes } = found
  if (from - BEARER.length < found.start || !standsAt(bytes, from - BEARER.length, BEARER)) return undefined
  let behind = to
  while (behind < found.end && (isIn(bytes[behind], WORD | BASE64) || bytes[behind] === DOT)) behind++
  if (behind - from >= MIN_BEARER_BYTES && hasDigit(bytes, from, behind)) found.add(from, behind)
  else if (found.mayContinue(behind)) found.addTentative(from, behind)
  else return undefined
  return behind
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (isIn(bytes[at], DIGIT)) return true
  return false
}
