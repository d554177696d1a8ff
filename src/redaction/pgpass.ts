import { COLON, DIGIT, DOT, indexWhere, isBlank, isIn, WORD } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'

/** Finds the password in a line of .pgpass, `host:5432:database:user:password`; `at` is the first colon. */
export function findPgpass(found: Findings, at: number): number {
  const { bytes, start, end } = found
  let line = at
  while (
    line > start &&
    at - line < MAX_HOST_BYTES &&
    (isIn(bytes[line - 1], WORD) || bytes[line - 1] === DOT)
  )
    line--
  if (line === at || (line > start && !endsLine(bytes[line - 1]))) return at
  const port = indexWhere(bytes, at + 1, end, (byte) => !isIn(byte, DIGIT))
  if (port - at < 5 || port - at > 6 || bytes[port] !== COLON) return at
  const endsField = (byte: number) => byte === COLON || isBlank(byte) || endsLine(byte)
  const database = indexWhere(bytes, port + 1, end, endsField)
  const user = bytes[database] === COLON ? indexWhere(bytes, database + 1, end, endsField) : end
  if (user >= end || bytes[user] !== COLON || isIn(bytes[port + 1], DIGIT)) return at
  const to = indexWhere(bytes, user + 1, end, (byte) => isBlank(byte) || endsLine(byte))
  if (found.mayContinue(to)) found.addTentative(user + 1, to)
  else found.add(user + 1, to)
  return to
}

const MAX_HOST_BYTES = 253
