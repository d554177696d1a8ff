import { AT, COLON, DIGIT, DOLLAR, ENDS_URL, isIn } from './characters.ts'
import type { Findings } from './findings.ts'

/** Of a URL whose `//` ends at `from`: the password between `:` and `@`. */
export function findPassword(found: Findings, from: number): void {
  const { bytes } = found
  const most = Math.min(found.end, from + MOST_AUTHORITY)
  let password = -1
  let host = -1
  let at = from
  for (; at < most && !isIn(bytes[at], ENDS_URL); at++) {
    if (bytes[at] === COLON && password === -1) password = at + 1
    else if (bytes[at] === AT) host = at
  }
  if (password === -1 || isPlaceholder(bytes[password])) return
  if (found.mayGoOn(at)) {
    // So far it may be a port.
    if (host > password) found.addEarly(password, at)
    else if (isNumber(bytes, password, at)) found.addEarly(password, password)
    else found.addEarly(password, at)
  } else if (host > password) found.add(password, host)
}

const MOST_AUTHORITY = 1024
const BRACE = 0x7b
const LESS = 0x3c

/** `${password}`, `{password}`, `<password>`: the text of a program or a manual. */
export function isPlaceholder(byte: number | undefined): boolean {
  return byte === DOLLAR || byte === BRACE || byte === LESS
}

function isNumber(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isIn(bytes[at], DIGIT)) return false
  return true
}
