import { COMMA, DOLLAR, isIn, PARTS } from './characters.ts'
import type { Findings } from './findings.ts'
import { looksGenerated } from './secret-value.ts'
import { textOf } from './text-of.ts'

const MAX_HASH_BYTES = 512
const MIN_HASH_BYTES = 22
/** The identifiers of crypt(3) and of the PHC string format. */
const SCHEME = /^\$(?:[1567y]|gy|2[abxy]|argon2(?:id|i|d)|scrypt|pbkdf2-\w{1,10}|apr1)\$/
const MAX_SCHEME_BYTES = 20

/** Hashes of passwords with an identifier, as in /etc/shadow: `$6$salt$hash`, `$2b$12$…`, `$argon2id$v=19$…`. The identifier stays. */
export function findPasswordHashes(found: Findings, bytes: Buffer): void {
  const { start, end } = found
  for (let at = bytes.indexOf(DOLLAR, start); at !== -1 && at < end; ) {
    at = bytes.indexOf(DOLLAR, Math.max(at + 1, findHash(found, at)))
  }
}

/** Returns where the hash that begins at `at` ends, or `at`. */
function findHash(found: Findings, at: number): number {
  const { bytes, end } = found
  if (!mayBeginScheme(bytes[at + 1])) return at
  const scheme = SCHEME.exec(textOf(bytes, at, Math.min(end, at + MAX_SCHEME_BYTES)))?.[0]
  if (scheme === undefined) return at
  const from = at + scheme.length
  let to = from
  while (to < end && to - from < MAX_HASH_BYTES && isHashByte(bytes[to])) to++
  if (found.mayContinue(to)) found.addTentative(from, to)
  else if (to - from >= MIN_HASH_BYTES && looksGenerated(textOf(bytes, from, to))) found.add(from, to)
  else return at
  return to
}

/** One of `1`, `2`, `5`, `6`, `7`, `a`, `g`, `p`, `s`, `y`. */
function mayBeginScheme(byte: number | undefined): boolean {
  return byte !== undefined && FIRST.has(byte)
}

const FIRST: ReadonlySet<number> = new Set([...'12567agpsy'].map((character) => character.charCodeAt(0)))

function isHashByte(byte: number | undefined): boolean {
  return isIn(byte, PARTS) || byte === DOLLAR || byte === COMMA
}
