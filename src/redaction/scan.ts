import { findAssignments } from './assignments.ts'
import { BREAK, COLON, DASH, isIn, JOINT, PORT, SLASH, STEPS, WORD } from './characters.ts'
import { findDataSourceNames } from './data-source-names.ts'
import type { Findings } from './findings.ts'
import { mayFollowName } from './name-before.ts'
import { findNamedValue } from './named-values.ts'
import { findOption } from './options.ts'
import { findPasswordHashes } from './password-hashes.ts'
import { findPgpass } from './pgpass.ts'
import { findSentences } from './sentences.ts'
import { findInserted } from './sql-inserts.ts'
import { findToken, MIN_TOKEN_WORD_BYTES } from './tokens.ts'
import { findInUrl } from './urls.ts'

/**
 * Finds everything that has a known shape within a line, in linear time. Most bytes are skipped:
 *
 * | finding                | where it is searched for                                           |
 * | tokens                 | in words of sixteen characters and more: one look in sixteen bytes  |
 * | `name=value` and such  | at each `=`, `:`, `>`, `,` and `-`, found four bytes at a time      |
 * | passwords in sentences | at `password ` and the like, found by the system                    |
 * | `ENV NAME value`, rows | at `ENV `, `VALUES` and the like, found by the system               |
 * | hashes of passwords    | at `$6$` and the like, found by the system                          |
 */
export function scan(found: Findings, bytes: Buffer): void {
  scanWords(found)
  scanSeparators(found)
  findSentences(found, bytes)
  findAssignments(found, bytes)
  findInserted(found, bytes)
  findPasswordHashes(found, bytes)
  findDataSourceNames(found, bytes)
  const { start, end } = found
  for (let at = bytes.indexOf(CELL, start); at !== -1 && at < end; at = bytes.indexOf(CELL, at + 2))
    if (mayFollowName(bytes, at)) findNamedValue(found, at)
}

/** Between two cells of a table. */
const CELL = Buffer.from('| ')

/** A long enough word covers every sixteenth byte, so only those are read first. */
function scanWords(found: Findings): void {
  const { bytes, start, end } = found
  const reach = MIN_TOKEN_WORD_BYTES - 1
  let at = start + reach
  while (at < end) {
    let steps = STEPS[bytes[at] as number] as number
    if (steps === BREAK) {
      at += MIN_TOKEN_WORD_BYTES
      continue
    }
    const least = at - reach
    let first = at
    for (; first > least; first--) {
      const step = STEPS[bytes[first - 1] as number] as number
      if (step === BREAK) break
      steps |= step
    }
    if (first > least) {
      at = first + reach
      continue
    }
    let to = at + 1
    for (; to < end; to++) {
      const step = STEPS[bytes[to] as number] as number
      if (step === BREAK) break
      steps |= step
    }
    findToken(found, least, to, (steps & JOINT) !== 0)
    at = to + MIN_TOKEN_WORD_BYTES
  }
  if (found.open) scanLastWord(found)
}

/** The last word may continue, however short it is. */
function scanLastWord(found: Findings): void {
  const { bytes, start, end } = found
  let from = end
  while (from > start && end - from < MIN_TOKEN_WORD_BYTES && STEPS[bytes[from - 1] as number] !== BREAK)
    from--
  if (from < end && end - from < MIN_TOKEN_WORD_BYTES) findToken(found, from, end, true)
}

/** Names and options are found by the characters that follow or begin them, four bytes at a time. */
function scanSeparators(found: Findings): void {
  const { bytes, start, end } = found
  const words = Math.min(end, start + ((4 - ((bytes.byteOffset + start) & 3)) & 3))
  const count = (end - words) >> 2
  let behind = lookAt(found, start, words, start)
  // Without whole words the offset may be unaligned, which Int32Array rejects.
  const four = count === 0 ? NONE : new Int32Array(bytes.buffer, bytes.byteOffset + words, count)
  for (let index = 0; index < count; index++) {
    const word = four[index] as number
    // A byte of these is zero for `8` to `?`, which include `:`, and for `,` and `-`. Only then does the subtraction set
    // the highest bit of that byte.
    const separators = (word & 0xf8f8f8f8) ^ 0x38383838
    const dashes = (word & 0xfefefefe) ^ 0x2c2c2c2c
    const zeros = ((separators - 0x01010101) & ~separators) | ((dashes - 0x01010101) & ~dashes)
    if ((zeros & 0x80808080) !== 0) {
      const at = words + index * 4
      if (at + 4 > behind) behind = lookAt(found, Math.max(at, behind), at + 4, behind)
    }
  }
  lookAt(found, Math.max(words + count * 4, behind), end, behind)
}

/** Examines the separators and dashes from `from` to `to`. Returns where the last found value ends. */
function lookAt(found: Findings, from: number, to: number, before: number): number {
  const { bytes } = found
  let behind = before
  for (let at = from; at < to; at++) {
    const site = SITES[bytes[at] as number]
    if (site === 0) continue
    const value = site === SEPARATOR ? lookAtSeparator(found, at) : lookAtDash(found, at)
    if (value <= at) continue
    behind = value
    at = value - 1
  }
  return behind
}

function lookAtSeparator(found: Findings, at: number): number {
  const { bytes } = found
  if (bytes[at] === COLON) {
    const next = bytes[at + 1]
    // `::` separates no value from its name.
    if (next === COLON || bytes[at - 1] === COLON) return at
    if (next === SLASH && bytes[at + 2] === SLASH) {
      findInUrl(found, at + 3)
      return at
    }
    if (isIn(next, PORT) && (bytes[at + 5] === COLON || bytes[at + 6] === COLON)) {
      const password = findPgpass(found, at)
      if (password !== at) return password
    }
  }
  return mayFollowName(bytes, at) ? findNamedValue(found, at) : at
}

function lookAtDash(found: Findings, at: number): number {
  const before = found.bytes[at - 1]
  return isIn(before, WORD) || before === DASH ? at : findOption(found, at)
}

const NONE = new Int32Array(0)
const SEPARATOR = 1
const OPTION = 2
/** By byte: whether it separates a name from a value, or begins an option. */
const SITES = new Uint8Array(256)
for (const separator of ':=>,') SITES[separator.charCodeAt(0)] = SEPARATOR
SITES[DASH] = OPTION
