import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { removeFile } from '../remove-file.ts'

/**
 * Small files that are used again. To make a file is slow where many were deleted just before (ext4 looks for an inode that
 * has not been in use for some seconds), and a keeper makes and deletes a few for every program.
 */
export class SpareFiles {
  readonly #folder: string
  readonly #spare: string[] = []
  /** When the folder was moved, its path may be another keeper's: names are this one's alone. */
  readonly #own = randomBytes(4).toString('hex')
  #made = 0

  /** The folder is this keeper's alone, and on the same disk as what the files are for. */
  constructor(folder: string) {
    this.#folder = folder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** The path of a file with just this in it. It is for the caller to move it to where it belongs. */
  fill(text: string, durable: boolean): string {
    const path = this.#spare.pop() ?? this.#next()
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
    try {
      const bytes = Buffer.from(text)
      // A disk that is nearly full takes a part, and says so only when it is given the rest.
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      if (fstatSync(fd).size > bytes.length) ftruncateSync(fd, bytes.length)
      if (durable) fsyncSync(fd)
    } catch (error) {
      removeFile(path)
      throw error
    } finally {
      closeSync(fd)
    }
    return path
  }

  /** It is not needed any more where it is. Nothing happens if it is not there. */
  takeBack(path: string): void {
    if (this.#spare.length >= MAX_SPARE_FILES) {
      removeFile(path)
      return
    }
    const spare = this.#next()
    try {
      renameSync(path, spare)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return
      throw error
    }
    this.#spare.push(spare)
  }

  #next(): string {
    return join(this.#folder, `${this.#own}.${++this.#made}`)
  }
}

const MAX_SPARE_FILES = 256
