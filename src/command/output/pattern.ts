import { RE2JS, RE2JSSyntaxException } from 're2js'
import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'

/** Whether a line matches. Takes time in proportion to the line's length, for any pattern. */
export type Matcher = (line: string) => boolean

/** A literal text, or an RE2 pattern; one of them. */
export interface Wanted {
  readonly text?: string
  readonly pattern?: string
  readonly ignoreCase?: boolean
}

/** Throws a `RefusedError` for an invalid search. */
export function matcherOf({ text, pattern, ignoreCase = false }: Wanted): Matcher {
  if ((text === undefined) === (pattern === undefined))
    throw refused('A search needs either a text or a pattern.', 'Give one of `text` and `pattern`.')
  if (pattern !== undefined) {
    const compiled = compilePattern(pattern, ignoreCase)
    return (line) => compiled.test(line)
  }
  if (text === undefined || text === '')
    throw refused('An empty text is in every line.', 'Give the text to search for, or read the lines.')
  if (!ignoreCase) return (line) => line.includes(text)
  const lower = text.toLowerCase()
  return (line) => line.toLowerCase().includes(lower)
}

/** Locating a match takes re2js far longer than testing for one: this is its budget in steps, about a quarter of a second. */
const MAX_LOCATE_STEPS = 4_000_000

/** Where in a line the match begins; -1 without one, and for patterns also when too much time was spent on earlier lines. */
export function locatorOf({ text, pattern, ignoreCase = false }: Wanted): (line: string) => number {
  if (pattern !== undefined) {
    const compiled = compilePattern(pattern, ignoreCase)
    const stepsPerChar = compiled.programSize()
    let stepsLeft = MAX_LOCATE_STEPS
    return (line) => {
      const steps = line.length * stepsPerChar
      if (steps > stepsLeft) return -1
      stepsLeft -= steps
      const matcher = compiled.matcher(line)
      return matcher.find() ? matcher.start() : -1
    }
  }
  const wanted = text ?? ''
  if (!ignoreCase) return (line) => line.indexOf(wanted)
  const lower = wanted.toLowerCase()
  return (line) => line.toLowerCase().indexOf(lower)
}

/** Throws a `RefusedError` for a pattern that can't be read or is too large. */
export function compilePattern(pattern: string, ignoreCase: boolean): RE2JS {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw refused(
      `The pattern has ${pattern.length} characters; ${MAX_PATTERN_CHARS} are allowed.`,
      'Search for a part of it.',
    )
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw refused(whatIsWrong(pattern, error), SYNTAX_REMEDY)
    throw error
  }
  if (compiled.programSize() > MAX_PROGRAM_SIZE)
    throw refused(
      `The pattern ${JSON.stringify(pattern)} is too large once its repetitions are counted out.`,
      'Repeat less: `x+` instead of `x{1,1000}`.',
    )
  return compiled
}

const MAX_PATTERN_CHARS = 1000

/** Each character of a line may cost this many steps. A repetition of a thousand costs less. */
const MAX_PROGRAM_SIZE = 2500

const SYNTAX_REMEDY =
  'Patterns are RE2: no look-around, no back-references. To find characters as they are, search for a text.'

/** RE2 takes it for the name of a group. */
const LOOK_BEHIND = /\(\?<[=!]/

function whatIsWrong(pattern: string, error: RE2JSSyntaxException): string {
  const behind = LOOK_BEHIND.exec(pattern)
  if (behind !== null)
    return `The pattern ${JSON.stringify(pattern)} looks behind, at character ${behind.index + 1}, which RE2 does not do.`
  const what = `The pattern ${JSON.stringify(pattern)} can't be read: ${error.getDescription()}`
  const part = error.getPattern()
  if (part === null || part === '' || part === pattern) return `${what}.`
  // Where a part stands more than once, nothing says which of them is meant.
  const at = pattern.indexOf(part)
  const isOne = at !== -1 && at === pattern.lastIndexOf(part)
  return `${what}, ${isOne ? `at character ${at + 1}` : 'in it'}: ${JSON.stringify(part)}.`
}

function refused(message: string, remedy: string): RefusedError {
  return new RefusedError(refusal('invalid_input', message, remedy))
}
