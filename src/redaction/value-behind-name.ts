import {
  AMPERSAND,
  APOSTROPHE,
  BACKSLASH,
  BACKTICK,
  BRACKET,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  CLOSING_PARENTHESIS,
  COMMA,
  EQUALS,
  GREATER,
  indexWhere,
  isBlank,
  isQuote,
  LESS,
  PIPE,
  QUESTION,
  QUOTE,
  SEMICOLON,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { beginsLine, endsLine } from './line-start.ts'
import { isEscapeLetter, type NameBefore } from './name-before.ts'
import { dumpedQuote, endOfQuoted, openingQuote, wrappedQuote } from './quoted-value.ts'
import type { ValueStyle } from './secret-kind.ts'
import { MAX_JUDGED_BYTES, MAX_VALUE_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'
import { yamlBlockBelow } from './yaml-block.ts'

export interface Value {
  readonly from: number
  readonly to: number
  readonly style: ValueStyle
  /** Its end depends on the rest of its line. */
  readonly isWholeLine: boolean
  readonly lineEnd: number
}

export function valueAt(found: Findings, name: NameBefore, at: number): Value | null {
  const { bytes, end } = found
  const isEquals = bytes[at] === EQUALS
  let from = at + (isEquals && bytes[at + 1] === GREATER ? 2 : 1)
  const begin = from
  const lineEnd = () => indexWhere(bytes, from, end, endsLine)
  const around = name.isQuoted ? undefined : bytes[name.from - 1]
  // `console.log('password:', password)`
  if (isQuote(around) && bytes[begin] === around) return null
  // `"NAME=value"`, `-H 'Name: value'`
  if (isQuote(around) && !isQuote(bytes[begin])) {
    while (from < end && isBlank(bytes[from])) from++
    const isForm = isEquals && !name.isVariable
    const to = indexWhere(
      bytes,
      from,
      end,
      (byte) => byte === around || endsLine(byte) || (isForm && byte === AMPERSAND),
    )
    const other = isEquals || from > begin ? 'setting' : 'bare'
    const style = isEquals && name.isVariable ? 'variable' : isEquals ? other : styleOfHeader(name, other)
    return { from, to: endOfEscaped(bytes, from, to), style, isWholeLine: false, lineEnd: to }
  }
  const isFirst = beginsLine(found, bytes[name.from - 1] === BRACKET ? name.from - 1 : name.from)
  const isEnvironment = isEquals && name.isVariable && !name.isSpaced
  if (isEnvironment && found.lines && isFirst) {
    const rest = lineEnd()
    const to = isEscapedLine(bytes, name.from) ? endOfEscaped(bytes, from, rest) : rest
    return { ...withoutQuotes(bytes, from, to), style: 'variable', isWholeLine: true, lineEnd: rest }
  }
  while (from < end && isBlank(bytes[from])) from++
  if (from >= end && !found.open) return null
  const isSpaced = from > begin
  const opening = openingQuote(bytes, from) ?? wrappedQuote(bytes, from) ?? dumpedQuote(bytes, from)
  if (opening !== null) {
    if (isEnvironment && opening.quote === BACKTICK) return null
    const to = endOfQuoted(bytes, opening, end)
    return {
      from: opening.inside,
      to,
      style: isEnvironment ? 'variable' : name.isSentence ? 'sentence' : 'quoted',
      isWholeLine: false,
      lineEnd: to,
    }
  }
  if (bytes[from] === LESS && !isEnvironment) {
    // `<…>` may frame a value to copy, but mostly holds a description.
    const to = indexWhere(bytes, from + 1, end, (byte) => byte === GREATER || isBlank(byte) || endsLine(byte))
    return { from: from + 1, to, style: 'sentence', isWholeLine: false, lineEnd: to }
  }
  if (isEnvironment && isSpaced) return null
  const isTight = !isEquals && !isSpaced
  const word = indexWhere(
    bytes,
    from,
    end,
    (byte, offset) => endsWord(found, byte, offset) || (isTight && byte === COMMA),
  )
  if (isEnvironment) return { from, to: word, style: 'variable', isWholeLine: false, lineEnd: word }
  if (name.isQuoted) return { from, to: word, style: 'bare', isWholeLine: false, lineEnd: word }
  if (name.isSentence) return { from, to: word, style: 'sentence', isWholeLine: false, lineEnd: word }
  const isColon = !isEquals
  if (isColon && name.text.includes('-'))
    return {
      from,
      to: word,
      style: styleOfHeader(name, isFirst ? 'setting' : 'bare'),
      isWholeLine: false,
      lineEnd: word,
    }
  if (isFirst && (isColon ? isSpaced : true)) return restOfLine(found, name, from, isColon, isSpaced)
  const isParameterOfUrl = isEquals && (around === QUESTION || around === AMPERSAND || around === SEMICOLON)
  const isPair = isEquals && !name.isSpaced && !isSpaced && !endsArgument(bytes[word])
  const style = isParameterOfUrl || isPair ? 'setting' : 'bare'
  return { from, to: word, style, isWholeLine: false, lineEnd: word }
}

/** A setting that takes the rest of its line, without a comment; or the first of several `name=value` pairs. */
function restOfLine(
  found: Findings,
  name: NameBefore,
  from: number,
  isColon: boolean,
  isSpaced: boolean,
): Value {
  const { bytes, end } = found
  const isEscaped = isEscapedLine(bytes, name.from)
  const lineEnd = indexWhere(bytes, from, Math.min(end, from + MAX_VALUE_BYTES), endsLine)
  if (isColon && (bytes[from] === PIPE || bytes[from] === GREATER) && lineEnd - from <= 3) {
    const block = yamlBlockBelow(found, name.from, lineEnd)
    if (block !== null) return { ...block, style: 'setting', isWholeLine: false, lineEnd: block.to }
  }
  let to = isEscaped ? endOfEscaped(bytes, from, lineEnd) : lineEnd
  const word = indexWhere(bytes, from, to, (byte) => isBlank(byte) || (!isColon && byte === AMPERSAND))
  const others = textOf(bytes, word, Math.min(to, word + MAX_JUDGED_BYTES))
  const comment = /\s(?:#|\/\/|;|<!--|--)/.exec(others)
  if (comment !== null) to = word + comment.index
  else if (!isColon && /[&=]/.test(others)) to = word
  while (to > from && isBlank(bytes[to - 1])) to--
  // A member of an object in source code.
  const isMember = bytes[to - 1] === COMMA
  if (isMember) to--
  const isOneWord = indexWhere(bytes, from, to, isBlank) === to
  const style =
    isMember || (!isColon && isSpaced && bytes[name.from - 1] !== BRACKET)
      ? 'bare'
      : name.isVariable && isColon && isOneWord
        ? 'variable'
        : 'setting'
  return { from, to, style, isWholeLine: true, lineEnd }
}

function styleOfHeader({ text, kind, isVariable }: NameBefore, other: ValueStyle): ValueStyle {
  if (isVariable) return 'variable'
  return /^x-/i.test(text) || (text.includes('-') && kind !== 'possible' && kind !== null) ? 'header' : other
}

/** Quotation marks around a whole value are not masked. */
function withoutQuotes(bytes: Uint8Array, from: number, to: number): { from: number; to: number } {
  const quote = bytes[from]
  // Text in backticks is a command.
  const isQuoted = to - from >= 2 && isQuote(quote) && quote !== BACKTICK && bytes[to - 1] === quote
  return isQuoted ? { from: from + 1, to: to - 1 } : { from, to }
}

function isEscapedLine(bytes: Uint8Array, name: number): boolean {
  return bytes[name - 2] === BACKSLASH && isEscapeLetter(bytes[name - 1])
}

/** A line within a JSON text ends with `\n`, or with the text. */
function endOfEscaped(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++)
    if (bytes[at] === BACKSLASH && (isEscapeLetter(bytes[at + 1]) || bytes[at + 1] === QUOTE)) return at
  return to
}

function endsWord(found: Findings, byte: number, at: number): boolean {
  // A comma within a value belongs to it.
  if (byte === COMMA) {
    const next = found.bytes[at + 1]
    return at + 1 >= found.end
      ? !found.mayContinue(found.end)
      : isBlank(next) || isQuote(next) || endsLine(next)
  }
  if (byte === BACKSLASH) {
    const next = found.bytes[at + 1]
    return isQuote(next) || isEscapeLetter(next)
  }
  return (
    isBlank(byte) ||
    endsLine(byte) ||
    byte === QUOTE ||
    byte === APOSTROPHE ||
    byte === BACKTICK ||
    ENDS.has(byte)
  )
}

/** `;`, `&`, `|`, `)`, `}`, `]`, `<` */
const ENDS: ReadonlySet<number> = new Set([
  SEMICOLON,
  AMPERSAND,
  PIPE,
  CLOSING_PARENTHESIS,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  LESS,
])

/** `,` and `)` end an argument of a call, which may be a variable. */
function endsArgument(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSING_PARENTHESIS || byte === CLOSING_BRACE || byte === CLOSING_BRACKET
}
