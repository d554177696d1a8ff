import { BACKSLASH, COLON, DASH, DOT, isBlank, isIn, isQuote, SEMICOLON, SLASH, WORD } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'
import { mayEndName } from './name-before.ts'
import { secretKindOf } from './secret-name.ts'
import { isSecretValue, MAX_JUDGED_BYTES, MAX_VALUE_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'

/** Ends of commands that take a name and a value as two words. Marks with a rare first letter are found fastest. */
const MARKS = ['ENV ', 'v ', 'x ', 'fig '].map((text) => Buffer.from(text))
const COMMAND = /(?:^|[^\w-])(?:ENV|[sS]et[eE]nv|setx|set -[A-Za-z]{0,4}x|config) $/
const MAX_COMMAND_BYTES = 16
const MAX_NAME_BYTES = 128
const MAX_OPTIONS = 3
const VARIABLE = /^[A-Z][A-Z0-9_]{2,}$/

/**
 * Values that are assigned without a separator: `ENV NAME value` of a Dockerfile, `setx NAME value`, `set -gx NAME value`,
 * `git config github.token value`.
 */
export function findAssignments(found: Findings, bytes: Buffer): void {
  for (const mark of MARKS)
    for (
      let at = bytes.indexOf(mark, found.start);
      at !== -1 && at < found.end;
      at = bytes.indexOf(mark, at + mark.length)
    ) {
      const behind = at + mark.length
      if (COMMAND.test(textOf(bytes, Math.max(0, behind - MAX_COMMAND_BYTES), behind)))
        findAssigned(found, behind - 1)
    }
}

/** `behind`: where the command ends. */
function findAssigned(found: Findings, behind: number): void {
  const { bytes, end } = found
  const name = nameBehind(bytes, behind, end)
  if (name === null) return
  let from = skipBlanks(bytes, name.behind, end)
  if (from === name.behind || from >= end) return
  const quote = isQuote(bytes[from]) ? bytes[from] : undefined
  if (quote !== undefined) from++
  const most = Math.min(end, from + MAX_VALUE_BYTES)
  let to = from
  while (to < most && !endsValue(bytes[to], quote)) to++
  const rest = skipBlanks(bytes, quote === undefined ? to : to + 1, end)
  if (found.mayContinue(rest)) {
    found.addTentative(from, to)
    return
  }
  // A command ends after the value. Prose about a command goes on.
  const isCommand = rest >= end || endsLine(bytes[rest]) || bytes[rest] === BACKSLASH || bytes[rest] === DASH
  const kind = secretKindOf(name.text)
  if (kind === null || (bytes[from] === DASH && quote === undefined)) return
  const other = quote === undefined ? 'bare' : 'quoted'
  const style = isCommand && VARIABLE.test(name.text) ? 'variable' : other
  if (isSecretValue(kind, textOf(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES)), style))
    found.add(from, to)
}

interface Name {
  readonly text: string
  readonly behind: number
}

/** The assigned name, after options and the word `set`; null if it cannot name a secret. */
function nameBehind(bytes: Uint8Array, behind: number, end: number): Name | null {
  let at = skipBlanks(bytes, behind, end)
  for (let option = 0; option < MAX_OPTIONS; option++) {
    const to = endOfName(bytes, at, end)
    if (bytes[at] !== DASH && textOf(bytes, at, Math.min(to, at + 4)) !== 'set') break
    at = skipBlanks(bytes, to, end)
  }
  const quote = isQuote(bytes[at]) ? 1 : 0
  const to = endOfName(bytes, at + quote, end)
  if (to - at < 2 || (quote === 1 && bytes[to] !== bytes[at]) || !mayEndName(bytes, to)) return null
  return { text: textOf(bytes, at + quote, to), behind: to + quote }
}

function endOfName(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && at - from < MAX_NAME_BYTES && (isIn(bytes[at], WORD) || isJoint(bytes[at]))) at++
  return at
}

/** `.`, `:`, `/` */
function isJoint(byte: number | undefined): boolean {
  return byte === DOT || byte === COLON || byte === SLASH
}

function skipBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && isBlank(bytes[at])) at++
  return at
}

function endsValue(byte: number | undefined, quote: number | undefined): boolean {
  if (endsLine(byte)) return true
  return quote === undefined ? isBlank(byte) || isQuote(byte) || byte === SEMICOLON : byte === quote
}
