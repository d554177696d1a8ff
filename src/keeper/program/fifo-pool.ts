import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { removeFile } from '../remove-file.ts'

/**
 * Named FIFOs, made in advance: Node has no call for it, and a `mkfifo` per program would cost as much as the program.
 * A FIFO takes the name of its program when it is given out. Most come back, since to make one is slow (see SpareFiles).
 */
export class FifoPool {
  readonly folder: string
  readonly #prefix: string
  /** When the folder was moved, its path may be another keeper's: names are this one's alone. */
  readonly #own = randomBytes(4).toString('hex')
  readonly #ready: string[] = []
  #making: Promise<void> | null = null
  #closed = false
  #used = 0

  /** `prefix` is this keeper's alone: what bears it at the start was left by one that is dead. */
  constructor(folder: string, prefix: string) {
    this.folder = folder
    this.#prefix = prefix
    for (const name of readdirSync(folder))
      if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true })
  }

  /** When there are as many as one program needs. Fails as `mkfifo` does. */
  async ready(): Promise<void> {
    // In the background: whoever finds too few waits below, and hears of it if there can be none.
    if (this.#ready.length < LOW) this.#refill().catch(() => {})
    while (this.#ready.length < PER_PROGRAM) await this.#refill()
  }

  /** The path of a fresh FIFO called `name`: the `wanted` one, or any. Makes one on the spot if others were quicker. */
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

  /** Nobody has it open any more, and nothing is in it: it is as good as new. */
  takeBack(path: string): void {
    if (this.#ready.length >= MOST) {
      removeFile(path)
      return
    }
    const again = join(this.folder, `${this.#prefix}${this.#own}.${this.#used++}`)
    try {
      renameSync(path, again)
    } catch (error) {
      // Its folder was moved away: then there is nothing to use again, and the program has ended all the same.
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
