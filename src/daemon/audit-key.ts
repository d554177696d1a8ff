import { randomBytes } from 'node:crypto'
import type { HomePaths } from '../home/paths.ts'
import { readIfPresent, writeDurably } from '../home/write-file.ts'

const KEY_BYTES = 32

/** The key that signs the start of a pruned audit. It is in the home, because who can write the store must not be able to sign. */
export function readAuditKey({ auditKey }: HomePaths): string | null {
  const key = (readIfPresent(auditKey) ?? '').trim()
  return /^[0-9a-f]+$/.test(key) && key.length === KEY_BYTES * 2 ? key : null
}

/** What was signed must still be known to be so after a power failure. */
export function createAuditKey({ auditKey }: HomePaths): string {
  const key = randomBytes(KEY_BYTES).toString('hex')
  writeDurably(auditKey, `${key}\n`)
  return key
}
