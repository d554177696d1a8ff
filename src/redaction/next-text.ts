import { COMMA, indexWhere, isBlank, PIPE } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'
import type { NameBefore } from './name-before.ts'
import { endOfQuoted, openingQuote } from './quoted-value.ts'
import { isSecretValue, looksGenerated, MAX_JUDGED_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'

/** Finds the next argument of a call, or the next cell of a table: `define('DB_PASSWORD', '…')`, `| password | … |`. */
export function findNextText(found: Findings, { kind }: NameBefore, at: number): number {
  const { bytes, end } = found
  if (kind === null || kind === 'possible') return at
  let from = at + 1
  while (from < end && isBlank(bytes[from])) from++
  const opening = openingQuote(bytes, from)
  if (opening === null && bytes[at] === COMMA) return at
  if (opening !== null) from = opening.inside
  const to =
    opening === null
      ? indexWhere(bytes, from, end, (byte) => isBlank(byte) || byte === PIPE || endsLine(byte))
      : endOfQuoted(bytes, opening, end)
  const text = textOf(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES))
  // A list of names has plain words there.
  const isSecret = isSecretValue(kind, text, opening === null ? 'bare' : 'sentence')
  if (found.mayContinue(to)) found.addTentative(from, to)
  else if (isSecret || (opening !== null && looksGenerated(text.replaceAll(/[^\w]/g, ''))))
    found.add(from, to)
  else return at
  return to
}
