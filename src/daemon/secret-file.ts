import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import * as z from 'zod'
import { SECRET_NAME, type Secrets } from '../core/environment/secrets.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { refusal } from '../core/refusal.ts'
import type { HomePaths } from '../home/paths.ts'
import { writeDurably } from '../home/write-file.ts'
import { waitForLock } from './file-lock.ts'

/** A value becomes an environment variable. Linux limits a variable, with its name, to 128 KiB. */
export const MAX_SECRET_BYTES = 64 * 1024
const MAX_SECRETS = 1_000

const CONTENT = z.strictObject({
  version: z.literal(1),
  secrets: z.record(z.string(), z.strictObject({ value: z.string(), setAt: z.number() })),
})
type Content = z.output<typeof CONTENT>['secrets']

export interface SecretEntry {
  readonly name: string
  readonly setAt: number
}

/**
 * The secrets of a home: one file, readable by its owner only. `reeve secret` writes it, and the daemon reads it when a process that
 * names a secret starts. A file that other users own or can read is refused: its values may be known to others, or be forged.
 */
export class SecretFile implements Secrets {
  readonly #path: string
  #version = 'never'
  #read: Content = {}
  #unusableSince: number | null = null

  constructor({ secrets }: Pick<HomePaths, 'secrets'>) {
    this.#path = secrets
  }

  read(): Readonly<Record<string, string>> {
    const entries = Object.entries(this.#content()).map(([name, { value }]) => [name, value])
    return Object.fromEntries(entries)
  }

  /** Why the file cannot be read now, and since when that has been seen; null if it can. */
  trouble(): { readonly since: number; readonly message: string; readonly remedy: string } | null {
    try {
      this.#content()
      this.#unusableSince = null
      return null
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      this.#unusableSince ??= Date.now()
      return { since: this.#unusableSince, message: error.message, remedy: error.remedy }
    }
  }

  list(): readonly SecretEntry[] {
    return Object.entries(this.#content())
      .map(([name, { setAt }]) => ({ name, setAt }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  set(name: string, value: string): 'set' | 'replaced' {
    refuseWrong(name, value)
    let answer: 'set' | 'replaced' = 'set'
    this.#change((secrets) => {
      if (Object.hasOwn(secrets, name)) answer = 'replaced'
      else if (Object.keys(secrets).length >= MAX_SECRETS) throw tooMany()
      return { ...secrets, [name]: { value, setAt: Date.now() } }
    })
    return answer
  }

  /** False if there was no such secret. */
  remove(name: string): boolean {
    let isThere = false
    this.#change((secrets) => {
      isThere = Object.hasOwn(secrets, name)
      const { [name]: _, ...others } = secrets
      return isThere ? others : secrets
    })
    return isThere
  }

  /** Holds a lock, so that of two programs that each set a secret neither loses the other's. */
  #change(changed: (secrets: Content) => Content): void {
    const lock = waitForLock(`${this.#path}.lock`)
    try {
      const before = readContent(this.#path)
      const after = changed(before)
      if (after !== before)
        writeDurably(this.#path, `${JSON.stringify({ version: 1, secrets: after }, null, 2)}\n`)
    } finally {
      lock.release()
    }
  }

  /** The version includes owner and mode, which may change without the content. */
  #content(): Content {
    const version = versionOf(this.#path)
    if (version === this.#version) return this.#read
    this.#read = readContent(this.#path)
    this.#version = version
    return this.#read
  }
}

function refuseWrong(name: string, value: string): void {
  const wrong = !SECRET_NAME.test(name)
    ? `${JSON.stringify(name)} is not a valid name for a secret`
    : value === ''
      ? `the value of ${name} is empty`
      : value.includes('\0')
        ? `the value of ${name} contains a NUL byte, which no variable can`
        : Buffer.byteLength(value) > MAX_SECRET_BYTES
          ? `the value of ${name} has more than ${MAX_SECRET_BYTES} bytes`
          : undefined
  if (wrong === undefined) return
  throw new RefusedError(
    refusal(
      'invalid_input',
      `Nothing was set: ${wrong}.`,
      'A name has letters, digits, _, . and -, and begins with a letter or _; a value is text of 1 byte to 64 KiB.',
    ),
  )
}

function tooMany(): RefusedError {
  return new RefusedError(
    refusal(
      'limit_exceeded',
      `There are ${MAX_SECRETS} secrets already.`,
      'Remove some with reeve secret rm.',
    ),
  )
}

/** Checks and reads the same open file. */
function readContent(path: string): Content {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    throw unusable(path, message, `Make ${path} a file that you can read, or remove it.`, error)
  }
  try {
    const { uid, mode } = fstatSync(file)
    if (process.getuid !== undefined && uid !== process.getuid())
      throw unusable(path, 'it belongs to another user', `Remove ${path}, and set the secrets again.`)
    if ((mode & 0o077) !== 0)
      throw unusable(
        path,
        'other users can read or write it',
        `Run chmod 600 ${path}, and change the secrets in it.`,
      )
    return CONTENT.parse(JSON.parse(readFileSync(file, 'utf8'))).secrets
  } catch (error) {
    if (error instanceof ReeveError) throw error
    // The parser's message may quote the content.
    throw unusable(path, 'it does not contain secrets', `Correct it, or remove it and set the secrets again.`)
  } finally {
    closeSync(file)
  }
}

function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 'none'
  return [stat.ino, stat.mtimeMs, stat.ctimeMs, stat.size, stat.mode, stat.uid].join(':')
}

function unusable(path: string, why: string, remedy: string, cause?: unknown): ReeveError {
  return new ReeveError('secrets_unusable', `The secrets in ${path} cannot be used: ${why}.`, remedy, {
    ...(cause === undefined ? {} : { cause }),
    details: { path },
  })
}
