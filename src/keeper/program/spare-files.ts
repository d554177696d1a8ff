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
 * A pool of small files. Creating a file is slow where many were deleted just before (ext4 looks for an inode that was unused for
 * some seconds), and a keeper creates and deletes a few for every program.
 */
export class SpareFiles {
  readonly #folder: string
  readonly #spare: string[] = []
  /** If the folder is moved, its path may become another keeper's: the prefix makes names unique to this one. */
  readonly #own = randomBytes(4).toString('hex')
  #made = 0

  /** The folder belongs to this keeper alone, on the disk where the files are needed. */
  constructor(folder: string) {
    this.#folder = folder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** The path of a file with exactly this content. The caller renames it to its destination. */
  fill(text: string, durable: boolean): string {
    const path = this.#spare.pop() ?? this.#next()
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
    try {
      const bytes = Buffer.from(text)
      // A nearly full disk takes a part, and fails only with the rest.
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

  /** Takes a file back into the pool, if it exists. */
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
