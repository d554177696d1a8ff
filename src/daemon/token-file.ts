import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import * as z from 'zod'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { refusal } from '../core/refusal.ts'
import type { HomePaths } from '../home/paths.ts'
import { readIfPresent, writeWholeFile } from '../home/write-file.ts'
import {
  newTokenText,
  type StoredToken,
  storedToken,
  TOKEN_ROLES,
  type Tokens,
  tokenHash,
} from '../server/tokens.ts'
import { waitForLock } from './file-lock.ts'

/**
 * The tokens of a home, in a file that may change while a daemon runs: `reeve token` writes it, and the daemon checks for a new
 * version before it accepts a token.
 */
export class TokenFile implements Tokens {
  readonly #path: string
  readonly #onTrouble: (error: unknown) => void
  #read: readonly StoredToken[] = []
  #version: string

  constructor({ tokens }: HomePaths, onTrouble: (error: unknown) => void = () => undefined) {
    this.#path = tokens
    this.#onTrouble = onTrouble
    this.#version = versionOf(tokens)
    this.#read = readTokens(tokens)
  }

  /** If the file has become unreadable, its last good content: a mistake in an editor adds and revokes no token. */
  all(): readonly StoredToken[] {
    const version = versionOf(this.#path)
    if (version === this.#version) return this.#read
    this.#version = version
    try {
      this.#read = readTokens(this.#path)
    } catch (error) {
      this.#onTrouble(error)
    }
    return this.#read
  }

  /** The text is shown this once; only its hash is kept. */
  create(wanted: Pick<StoredToken, 'role' | 'session' | 'label' | 'person' | 'approver'>): {
    token: string
    kept: StoredToken
  } {
    const token = newTokenText()
    const id = `t_${randomBytes(6).toString('hex')}`
    const made = storedToken.safeParse({ ...wanted, id, hash: tokenHash(token), createdAt: Date.now() })
    if (!made.success) throw wrongToken(made.error)
    const kept = made.data
    this.#change((tokens) => [...tokens, kept])
    return { token, kept }
  }

  /** False if there was no such token. */
  revoke(id: string): boolean {
    let isThere = false
    this.#change((tokens) => {
      isThere = tokens.some((token) => token.id === id)
      return isThere ? tokens.filter((token) => token.id !== id) : tokens
    })
    return isThere
  }

  /** Holds a lock, so that of two programs that each add a token neither loses the other's. */
  #change(changed: (tokens: readonly StoredToken[]) => readonly StoredToken[]): void {
    const lock = waitForLock(`${this.#path}.lock`)
    try {
      // Read from disk: a file with a mistake in it is refused, and not overwritten by the last good content.
      const before = readTokens(this.#path)
      const after = changed(before)
      if (after !== before) writeWholeFile(this.#path, `${JSON.stringify(after, null, 2)}\n`)
    } finally {
      lock.release()
    }
  }
}

function wrongToken({ issues }: z.ZodError): RefusedError {
  const said = issues.map(({ path, message }) => [...path, message].join(': ')).join('; ')
  const remedy = `A role is one of ${TOKEN_ROLES.join(', ')}; give a session to agent, and to no other.`
  return new RefusedError(refusal('invalid_input', `The token is invalid: ${said}.`, remedy))
}

/** The admin token of a home, created if there is none. */
export function adminToken(paths: HomePaths, tokens: TokenFile): string {
  const there = readIfPresent(paths.token)?.trim()
  const isKnown = there !== undefined && tokens.all().some(({ hash }) => hash === tokenHash(there))
  if (isKnown) return there
  const { token } = tokens.create({ role: 'admin', label: 'made at the first start' })
  writeWholeFile(paths.token, `${token}\n`)
  return token
}

function readTokens(path: string): readonly StoredToken[] {
  const text = readIfPresent(path)
  if (text === undefined) return []
  try {
    return z.array(storedToken).parse(JSON.parse(text))
  } catch (error) {
    const said = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new ReeveError(
      'bad_configuration',
      `${path} does not contain tokens: ${said}.`,
      'Correct it, or remove it together with the file token: new ones are created at the next start.',
      { cause: error },
    )
  }
}

/** Every write creates a new file, so the inode number changes even within one tick of the clock. */
function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.ino}:${stat.mtimeMs}:${stat.size}`
}
