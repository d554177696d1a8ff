import { AT, indexWhere, isBlank, isQuote, SLASH } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'

/** Finds the password of `jdbc:oracle:thin:user/password@host`. */
export function findOracle(found: Findings, at: number): number {
  const { bytes, end } = found
  const user = indexWhere(
    bytes,
    at,
    end,
    (byte) => byte === SLASH || byte === AT || isBlank(byte) || endsLine(byte),
  )
  if (bytes[user] !== SLASH || user === at) return at - 1
  const to = indexWhere(
    bytes,
    user + 1,
    end,
    (byte) => byte === AT || isBlank(byte) || isQuote(byte) || endsLine(byte),
  )
  if (found.mayContinue(to)) found.addTentative(user + 1, to)
  else if (bytes[to] === AT) found.add(user + 1, to)
  return to
}
