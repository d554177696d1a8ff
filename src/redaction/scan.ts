import { findAssignment } from './assignments.ts'
import { BREAK, COLON, EQUALS, PASS, SLASH, STEPS } from './characters.ts'
import type { Findings } from './findings.ts'
import { findHeader } from './headers.ts'
import { findPassword } from './urls.ts'
import { findToken, SHORTEST_WORD } from './words.ts'

/**
 * Looks through bytes once, from left to right, for everything that has a known shape within a line. Letters, which most
 * bytes are, cost a look at a table. Something happens only where a long word ends, and at `:` and `=`.
 */
export function scan(found: Findings): void {
  const { bytes, start, end } = found
  let word = start
  let at = start
  for (; at < end; at++) {
    const step = STEPS[bytes[at] as number]
    if (step === PASS) continue
    if (at - word >= SHORTEST_WORD) {
      const behind = findToken(found, word, at)
      if (behind > at) {
        word = behind
        at = behind - 1
        continue
      }
    }
    if (step !== BREAK) {
      const behind = findAround(found, at)
      if (behind > at + 1) {
        word = behind
        at = behind - 1
        continue
      }
    }
    word = at + 1
  }
  // The last word may go on, however short it is.
  if (word < end && (found.open || end - word >= SHORTEST_WORD)) findToken(found, word, end)
}

/** What stands around a `:` or `=`. Answers with where to go on. */
function findAround(found: Findings, at: number): number {
  const { bytes } = found
  if (bytes[at] === COLON && bytes[at + 1] === SLASH && bytes[at + 2] === SLASH) {
    findPassword(found, at + 3)
    return at
  }
  const behind = findHeader(found, at)
  return behind > at || bytes[at] !== EQUALS ? behind : findAssignment(found, at)
}
