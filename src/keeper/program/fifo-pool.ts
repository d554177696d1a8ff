import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { removeFile } from '../remove-file.ts'

/**
 * A pool of named FIFOs: Node has no call to create one, and a `mkfifo` per program would cost as much as the program.
 * A FIFO is renamed to its program when it is taken. Most are returned, because creating one is slow (see SpareFiles).
 */
export class FifoPool {
  readonly folder: string
  readonly #prefix: string
  /** If the folder is moved, its path may become another keeper's: the prefix makes names unique to this one. */
  readonly #own = randomBytes(4).toString('hex')
  readonly #ready: string[] = []
  #making: Promise<void> | null = null
  #closed = false
  #used = 0

  /** `prefix` is unique to this keeper: files with it at the start were left by a dead one. */
  constructor(folder: string, prefix: string) {
    this.folder = folder
    this.#prefix = prefix
    for (const name of readdirSync(folder))
      if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true })
  }

  /** Resolves when there are as many as one program needs. Fails as `mkfifo` does. */
  async ready(): Promise<void> {
    // In the background: a caller that finds too few waits below, and gets the error if none can be made.
    if (this.#ready.length < LOW) this.#refill().catch(() => {})
    while (this.#ready.length < PER_PROGRAM) await this.#refill()
  }

  /** The path of an unused FIFO, renamed to `name`: the `wanted` one, or any. Creates one if the pool is empty. */
  take(name: string, wanted?: string): string {
    const path = join(this.folder, name)
    const made = (wanted === undefined ? undefined : this.#takeReady(wanted)) ?? this.#ready.pop()
    if (made === undefined)
      execFileSync('mkfifo', ['-m', '600', path], { stdio: ['ignore', 'ignore', 'pipe'] })
    else renameSync(made, path)
    return path
  }

  #takeReady(name: string): string | undefined {
    const at = this.#ready.lastIndexOf(join(this.folder, name))
    return at === -1 ? undefined : this.#ready.splice(at, 1)[0]
  }

  /** Returns a FIFO that is closed everywhere and empty. */
  takeBack(path: string): void {
    if (this.#ready.length >= MOST) {
      removeFile(path)
      return
    }
    const again = join(this.folder, `${this.#prefix}${this.#own}.${this.#used++}`)
    try {
      renameSync(path, again)
    } catch (error) {
      // Its folder was moved away: there is nothing to reuse, and the program has ended anyway.
      if (codeOf(error) === 'ENOENT') return
      throw error
    }
    this.#ready.push(again)
  }

  close(): void {
    this.#closed = true
    for (const path of this.#ready.splice(0)) rmSync(path, { force: true })
  }

  #refill(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null
    })
    return this.#making
  }

  #make(): Promise<void> {
    const batch = randomBytes(6).toString('hex')
    const paths = Array.from({ length: BATCH }, (_, at) => join(this.folder, `${this.#prefix}${batch}.${at}`))
    return new Promise((resolve, reject) => {
      execFile('mkfifo', ['-m', '600', ...paths], (error) => {
        if (error !== null) {
          reject(error)
          return
        }
        this.#ready.push(...paths)
        if (this.#closed) this.close()
        resolve()
      })
    })
  }
}

const BATCH = 64
const LOW = 32
const MOST = 256
/** Standard output, standard error and standard input. */
const PER_PROGRAM = 3
