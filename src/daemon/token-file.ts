import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import * as z from 'zod'
import type { HomePaths } from '../client/home.ts'
import { ReeveError } from '../core/errors.ts'
import { type KeptToken, keptToken, newTokenText, type Tokens, tokenHash } from '../server/tokens.ts'
import { writeWhole } from './home.ts'

/**
 * The tokens of a home, in a file that may be changed while a daemon runs: `reeve token` writes it, and the daemon looks
 * whether it is another one before it believes a token.
 */
export class TokenFile implements Tokens {
  readonly #path: string
  #read: readonly KeptToken[] = []
  #version = ''

  constructor({ tokens }: HomePaths) {
    this.#path = tokens
    this.all()
  }

  all(): readonly KeptToken[] {
    const version = versionOf(this.#path)
    if (version !== this.#version) {
      this.#read = readTokens(this.#path)
      this.#version = version
    }
    return this.#read
  }

  /** The text is shown this once; only its hash is kept. */
  create(wanted: Pick<KeptToken, 'role' | 'session' | 'label'>): { token: string; kept: KeptToken } {
    const token = newTokenText()
    const kept = keptToken.parse({
      ...wanted,
      id: `t_${randomBytes(6).toString('hex')}`,
      hash: tokenHash(token),
      createdAt: Date.now(),
    })
    this.#write([...this.all(), kept])
    return { token, kept }
  }

  /** Whether there was one. */
  revoke(id: string): boolean {
    const left = this.all().filter((token) => token.id !== id)
    if (left.length === this.all().length) return false
    this.#write(left)
    return true
  }

  #write(tokens: readonly KeptToken[]): void {
    writeWhole(this.#path, `${JSON.stringify(tokens, null, 2)}\n`)
  }
}

/** The admin token of a home, made when there is none yet. */
export function adminToken(paths: HomePaths, tokens: TokenFile): string {
  const there = textOf(paths.token)?.trim()
  const isKnown = there !== undefined && tokens.all().some(({ hash }) => hash === tokenHash(there))
  if (isKnown) return there
  const { token } = tokens.create({ role: 'admin', label: 'made at the first start' })
  writeWhole(paths.token, `${token}\n`)
  return token
}

function readTokens(path: string): readonly KeptToken[] {
  const text = textOf(path)
  if (text === undefined) return []
  try {
    return z.array(keptToken).parse(JSON.parse(text))
  } catch (error) {
    const said = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new ReeveError(
      'bad_configuration',
      `${path} does not hold tokens: ${said}.`,
      'Correct it, or remove it together with the file token: then new ones are made at the next start.',
      { cause: error },
    )
  }
}

/** Every write makes another file, so its number changes even within one tick of the clock. */
function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.ino}:${stat.mtimeMs}:${stat.size}`
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
