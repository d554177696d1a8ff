import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { UsageError } from './usage-error.ts'

/** The variables of an env file. Node reads it, but skips lines that it does not understand: those are refused here. */
export function readEnvFile(file: string): Record<string, string> {
  const text = textOf(file).replace(/^\ufeff/, '')
  refuseBadLine(file, text)
  const variables = Object.entries(parseEnv(text)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return Object.fromEntries(variables)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(
      `--env-file ${file} cannot be read: ${(error as Error).message}.`,
      'Give a file with lines like NAME=value.',
    )
  }
}

/** `export` is allowed, as in files that a shell reads too. */
const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=\s*(?<value>.*)$/
const BLANK_OR_COMMENT = /^\s*(?:#.*)?$/

/** The message has the number of the line and not its text, which may be a part of a secret. */
function refuseBadLine(file: string, text: string): void {
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (BLANK_OR_COMMENT.test(line)) continue
    const value = ASSIGNMENT.exec(line)?.groups?.['value']
    if (value === undefined)
      throw new UsageError(
        `--env-file ${file}, line ${at + 1}: this is not NAME=value.`,
        'Correct the line, or begin it with # to make it a comment.',
      )
    const last = lastLineOf(lines, at, value)
    if (last === null)
      throw new UsageError(
        `--env-file ${file}, line ${at + 1}: the quote that begins the value is not closed.`,
        'Close it, or put the value in quotes of another kind.',
      )
    at = last
  }
}

/** Where a value ends: a quoted one may go on over several lines. Null if its quote is never closed. */
function lastLineOf(lines: readonly string[], first: number, value: string): number | null {
  const quote = /^["'`]/.exec(value)?.[0]
  if (quote === undefined || value.includes(quote, 1)) return first
  const last = lines.findIndex((line, at) => at > first && line.includes(quote))
  return last === -1 ? null : last
}
