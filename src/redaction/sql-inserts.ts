import {
  APOSTROPHE,
  BACKSLASH,
  CLOSING_PARENTHESIS,
  COMMA,
  isBlank,
  isLineEnd,
  PARENTHESIS,
} from './characters.ts'
import type { Findings } from './findings.ts'
import type { SecretKind } from './secret-kind.ts'
import { secretKindOf } from './secret-name.ts'
import { isSecretValue, MAX_JUDGED_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'

const MARKS = ['VALUES', 'values'].map((text) => Buffer.from(text))
const MAX_COLUMNS_BYTES = 1024
const MAX_ROWS_BYTES = 16_384

/** The values of secret columns in `INSERT INTO users (name, password) VALUES ('bob', '…')`. */
export function findInserted(found: Findings, bytes: Buffer): void {
  for (const mark of MARKS)
    for (
      let at = bytes.indexOf(mark, found.start);
      at !== -1 && at < found.end;
      at = bytes.indexOf(mark, at + mark.length)
    ) {
      const rows = skipSpace(bytes, at + mark.length, found.end)
      if (bytes[rows] !== PARENTHESIS) continue
      const kinds = columnsBefore(bytes, at)
      if (kinds !== null) findInRows(found, rows, kinds)
    }
}

/** The kinds of secrets in the columns listed before `at`; null if no column holds a secret. */
function columnsBefore(bytes: Uint8Array, at: number): readonly (SecretKind | null)[] | null {
  let to = at
  while (to > 0 && at - to < MAX_COLUMNS_BYTES && isSpace(bytes[to - 1])) to--
  if (bytes[to - 1] !== CLOSING_PARENTHESIS) return null
  let from = to - 1
  while (
    from > 0 &&
    to - from < MAX_COLUMNS_BYTES &&
    bytes[from - 1] !== PARENTHESIS &&
    bytes[from - 1] !== CLOSING_PARENTHESIS
  )
    from--
  if (bytes[from - 1] !== PARENTHESIS) return null
  const names = textOf(bytes, from, to - 1).split(',')
  const kinds = names.map((name) => secretKindOf(name.replaceAll(/[\s"'`[\]\\]/g, '')))
  return kinds.some((kind) => kind !== null) ? kinds : null
}

function findInRows(found: Findings, rows: number, kinds: readonly (SecretKind | null)[]): void {
  const { bytes } = found
  const end = Math.min(found.end, rows + MAX_ROWS_BYTES)
  let at = rows
  while (at < end && bytes[at] === PARENTHESIS) {
    at = findInRow(found, at + 1, end, kinds)
    if (bytes[at] !== CLOSING_PARENTHESIS) return
    at = skipSpace(bytes, at + 1, end)
    if (bytes[at] !== COMMA) return
    at = skipSpace(bytes, at + 1, end)
  }
}

/** Returns where the row ends that begins at `from`. */
function findInRow(
  found: Findings,
  from: number,
  end: number,
  kinds: readonly (SecretKind | null)[],
): number {
  const { bytes } = found
  let at = from
  for (const kind of kinds) {
    at = skipSpace(bytes, at, end)
    if (bytes[at] === APOSTROPHE) {
      const to = endOfText(bytes, at + 1, end)
      if (kind !== null) judge(found, kind, at + 1, to)
      at = to + 1
    }
    while (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSING_PARENTHESIS) at++
    if (bytes[at] !== COMMA) return at
    at++
  }
  return at
}

function judge(found: Findings, kind: SecretKind, from: number, to: number): void {
  // A second quotation mark would make the first one a part of the text.
  if (found.mayContinue(to + 1)) found.addTentative(from, Math.min(to, found.end))
  else if (isSecretValue(kind, textOf(found.bytes, from, Math.min(to, from + MAX_JUDGED_BYTES)), 'quoted'))
    found.add(from, to)
}

/** A text ends at a quotation mark that is neither doubled nor escaped. */
function endOfText(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  for (; at < end; at++) {
    if (bytes[at] === BACKSLASH) at++
    else if (bytes[at] === APOSTROPHE) {
      if (bytes[at + 1] !== APOSTROPHE) return at
      at++
    }
  }
  return Math.min(at, end)
}

function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && isSpace(bytes[at])) at++
  return at
}

function isSpace(byte: number | undefined): boolean {
  return isBlank(byte) || isLineEnd(byte)
}
