import { BACKSLASH, EQUALS, indexWhere, isBlank, isQuote, SEMICOLON } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'
import type { NameBefore } from './name-before.ts'
import { isReference, looksGenerated } from './secret-value.ts'
import { textOf } from './text-of.ts'

const MAX_COOKIES_BYTES = 8192

/** `Cookie`, `Set-Cookie`, and similar names in programs. */
export function isCookieName(name: string): boolean {
  return /(?:^|[-_.])cookie$/i.test(name) || /^set[-_]?cookie2?$/i.test(name)
}

/**
 * Finds the values of cookies that may open a session: `Cookie: theme=dark; sid=…`. In `Set-Cookie` only the first pair is a
 * cookie; the others are its attributes. Returns where the last one ends.
 */
export function findCookies(found: Findings, name: NameBefore, at: number): number {
  const { bytes } = found
  const end = Math.min(found.end, at + MAX_COOKIES_BYTES)
  const isSetting = /set/i.test(name.text)
  let from = at
  while (from < end && (isBlank(bytes[from]) || isQuote(bytes[from]) || bytes[from] === BACKSLASH)) from++
  let last = at
  while (from < end) {
    const equals = indexWhere(bytes, from, end, (byte) => byte === EQUALS || endsCookie(byte))
    if (bytes[equals] !== EQUALS || equals === end) break
    const to = indexWhere(bytes, equals + 1, end, endsCookie)
    if (found.mayContinue(to)) {
      found.addTentative(equals + 1, to)
      return to
    }
    if (
      isSessionCookie(
        textOf(bytes, from, Math.min(equals, from + 64)),
        textOf(bytes, equals + 1, Math.min(to, equals + 129)),
      )
    )
      found.add(equals + 1, to)
    last = to
    if (isSetting || bytes[to] !== SEMICOLON) break
    from = to + 1
    while (from < end && isBlank(bytes[from])) from++
  }
  return last
}

const SESSION =
  /sess|sid$|^sid|auth|token|jwt|remember|csrf|xsrf|login|secret|key|credential|identity|user|ticket|^id$/i

function isSessionCookie(name: string, value: string): boolean {
  if (value.length < 4 || isReference(value)) return false
  return SESSION.test(name) || looksGenerated(value) || value.length >= 20
}

function endsCookie(byte: number): boolean {
  return byte === SEMICOLON || isBlank(byte) || isQuote(byte) || endsLine(byte) || byte === BACKSLASH
}
