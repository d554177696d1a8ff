import {
  AMPERSAND,
  COLON,
  COMMA,
  DASH,
  EQUALS,
  EXCLAMATION,
  GREATER,
  indexWhere,
  isBlank,
  isQuote,
  LESS,
  PIPE,
  QUESTION,
  SEMICOLON,
  SLASH,
  TILDE,
} from './characters.ts'
import { findCookies, isCookieName } from './cookies.ts'
import type { Findings } from './findings.ts'
import { findHeader } from './headers.ts'
import { endsLine } from './line-start.ts'
import { type NameBefore, nameBefore } from './name-before.ts'
import { findNextText } from './next-text.ts'
import { findOracle } from './oracle.ts'
import { pairedName } from './paired-name.ts'
import { isSecretValue, MAX_JUDGED_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'
import { valueAt } from './value-behind-name.ts'
import { findElement } from './xml-elements.ts'

/**
 * Finds the value of a name that announces a secret: `NAME=value`, `"name": "value"`, `name: value`, `Header-Name: value`,
 * `<name>value</name>`. `at` is the separator. Returns where the value ends; `at` if there is no secret.
 *
 * Placeholders such as `$TOKEN` or `<token>`, and source code such as `password: string`, stay.
 */
export function findNamedValue(found: Findings, at: number): number {
  const { bytes } = found
  if (!isSeparator(bytes, at)) return at
  const name = nameBefore(bytes, found.start, at)
  if (name === null) return at
  if (bytes[at] === GREATER) return findElement(found, name, at)
  if (bytes[at] === COMMA || bytes[at] === PIPE) return findNextText(found, name, at)
  if (isCookieName(name.text)) return findCookies(found, name, at + 1)
  if (AUTHORIZATION.test(name.text) && (bytes[at] === COLON || bytes[at] === EQUALS))
    return Math.max(at, findHeader(found, name.to))
  if (name.text === 'thin') return findOracle(found, at + 1)
  const kind = name.kind ?? pairedName(bytes, name)
  if (kind === null || isSignatureOutsideUrl(bytes, name)) return at
  const value = valueAt(found, name, at)
  if (value === null) return at
  const { from, to, style } = value
  if (found.mayContinue(to) || (value.isWholeLine && found.mayContinue(value.lineEnd))) {
    // The value can be judged once it has ended.
    found.addTentative(from, Math.max(to, value.isWholeLine ? value.lineEnd : to))
    return value.isWholeLine ? value.lineEnd : to
  }
  // The first of several lines decides, because the others may be missing.
  const judged = indexWhere(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES), endsLine)
  if (!isSecretValue(kind, textOf(bytes, from, judged), style)) return at
  found.add(from, to)
  return to
}

const AUTHORIZATION = /authorization$/i

function isSeparator(bytes: Uint8Array, at: number): boolean {
  const [before, after] = [bytes[at - 1], bytes[at + 1]]
  switch (bytes[at]) {
    case EQUALS:
      // `==`, `!=`, `<=`, `>=`, `=~`
      return (
        after !== EQUALS &&
        after !== TILDE &&
        before !== EQUALS &&
        before !== EXCLAMATION &&
        before !== LESS &&
        before !== GREATER
      )
    case COLON:
      // `::`, `:=`, `?:`
      return after !== COLON && after !== EQUALS && before !== COLON && before !== QUESTION
    case COMMA:
      // `('password', '…')`
      return isQuote(before)
    case PIPE:
      return isBlank(before) || isQuote(before)
    default:
      return before !== EQUALS && before !== DASH && before !== SLASH
  }
}

/** A signature is a secret in URL parameters only. Elsewhere it names an author. */
function isSignatureOutsideUrl(bytes: Uint8Array, { text, from }: NameBefore): boolean {
  if (!/sig(?:nature)?$/i.test(text)) return false
  const before = bytes[from - 1]
  return before !== QUESTION && before !== AMPERSAND && before !== SEMICOLON
}
