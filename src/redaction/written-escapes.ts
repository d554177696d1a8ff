import { BACKSLASH, BRACKET, DIGIT, isIn, PERCENT, SEMICOLON, SETS, standsAt } from './characters.ts'
/**
 * Where the word really begins, if its first letters belong to what stands before it: an escaped line end (`\\n`), a colour as
 * JSON and shells write it (`\\u001b[32m`), a character of a URL (`%3D`). -1 if they do not.
 */
export function afterEscape(bytes: Uint8Array, from: number, to: number): number {
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

const WRITTEN_ESCAPES = ['\\u001b', '\\x1b', '\\033', '\\e']
