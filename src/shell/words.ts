import type { Assignment, Word, WordPart } from 'unbash'
import { literalToken, type Token } from './token.ts'

/** Variables whose value is a number: never split, never an option. */
const NUMBERS = new Set(['$#', '$?', '$$', '$!'])
/** Prints a number; walk.ts refuses a function of that name. */
const NUMBER_OF_CORES = '$(nproc)'
/** Control characters, and spaces and invisible characters that look like a separator and are none. */
const UNUSUAL = /[\p{Zl}\p{Zp}\p{Cc}\p{Cf}]|(?! )\p{Zs}/u

interface Reading {
  /** The literal characters up to the first part that only the shell knows. */
  value: string
  isLiteral: boolean
  /** Whether the value of a variable or the output of a command is split into words. */
  isDivided: boolean
  /** Whether a pattern or a list in braces becomes several words. */
  isSplit: boolean
}

/** What the shell makes of a word: its value without quotes, if that is all in the text. */
export function tokenOf(word: Word): Token {
  const { text, parts } = word
  if (parts === undefined) return hasTilde(text) ? unknownToken(false) : literalToken(word.value)
  const reading = { value: '', isLiteral: true, isDivided: false, isSplit: false }
  for (const part of parts) read(part, reading)
  if (parts.some((part) => part.type === 'Literal' && hasTilde(part.text, part === parts[0])))
    reading.isLiteral = false
  if (reading.isLiteral) return literalToken(reading.value)
  return {
    value: null,
    start: reading.value,
    isSplit: reading.isSplit || reading.isDivided,
    mayBeOption: reading.isDivided || /^(-|$)/.test(reading.value),
  }
}

/** An argument such as `FOO=bar` of `export`. */
export function assignmentTokenOf(assignment: Assignment): Token {
  const { name, value, index, append } = assignment
  if (index !== undefined) return unknownToken(false)
  const text = value.type === 'ArrayValue' ? null : tokenOf(value).value
  if (text === null) return { ...unknownToken(false), assigns: name }
  return { ...literalToken(`${name}${append === true ? '+' : ''}=${text}`), assigns: name }
}

/** Whether an unquoted part of the word has characters that look like a space or cannot be seen. */
export function hasUnusualCharacters({ text, parts }: Word): boolean {
  const unquoted =
    parts === undefined ? [text] : parts.map((part) => (part.type === 'Literal' ? part.text : ''))
  return unquoted.some((one) => UNUSUAL.test(one.replaceAll('\\\n', '')))
}

export function isUnusual(text: string): boolean {
  return UNUSUAL.test(text)
}

function unknownToken(mayBeOption: boolean): Token {
  return { value: null, start: '', isSplit: false, mayBeOption }
}

/** A home folder stands for a tilde at the start of a word, and behind `=` and `:`. */
function hasTilde(text: string, isStart = true): boolean {
  return text.includes('~') && ((isStart && text.startsWith('~')) || /[=:]~/.test(text))
}

function read(part: WordPart, reading: Reading, isQuoted = false): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      append(part.value, reading)
      return
    case 'AnsiCQuoted':
      // A NUL ends the string early, and a byte above 0x7f has another meaning in each locale.
      if (/^[\t\n -~]*$/.test(part.value)) append(part.value, reading)
      else reading.isLiteral = false
      return
    case 'DoubleQuoted':
      for (const child of part.parts) read(child, reading, true)
      return
    // Translated by a catalogue of messages.
    case 'LocaleString':
      reading.isLiteral = false
      for (const child of part.parts) read(child, reading, true)
      return
    case 'SimpleExpansion':
      reading.isLiteral = false
      if (part.text === '$@' || (!isQuoted && !NUMBERS.has(part.text))) reading.isDivided = true
      return
    case 'ParameterExpansion':
      reading.isLiteral = false
      if (part.prefix === '#') return
      if (!isQuoted || part.parameter === '@' || part.text.includes('@')) reading.isDivided = true
      return
    case 'CommandExpansion':
      reading.isLiteral = false
      if (!isQuoted && part.text !== NUMBER_OF_CORES) reading.isDivided = true
      return
    // A number, and the path of a pipe.
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      reading.isLiteral = false
      return
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      reading.isLiteral = false
      reading.isSplit = true
      // The alternatives of a list may be variables.
      if (part.type === 'BraceExpansion' && part.parts !== undefined) reading.isDivided = true
      return
  }
}

function append(text: string, reading: Reading): void {
  if (reading.isLiteral) reading.value += text
}
