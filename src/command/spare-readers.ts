import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Pid } from '../core/process/pid.ts'

/**
 * A second read descriptor for every output pipe, which nobody reads from. A pipe's unread bytes vanish when its last
 * holder closes it: should the keeper die and the program end before the next keeper opens the pipe, this keeps them.
 */
export class SpareReaders {
  readonly #fifos: string
  readonly #open = new Map<Pid, readonly number[]>()

  constructor(fifos: string) {
    this.#fifos = fifos
  }

  hold(pid: Pid): void {
    if (this.#open.has(pid)) return
    const descriptors = ['out', 'err'].flatMap((end) => this.#openOne(join(this.#fifos, `${pid}.${end}`)))
    if (descriptors.length > 0) this.#open.set(pid, descriptors)
  }

  release(pid: Pid): void {
    for (const descriptor of this.#open.get(pid) ?? []) closeSync(descriptor)
    this.#open.delete(pid)
  }

  close(): void {
    for (const pid of [...this.#open.keys()]) this.release(pid)
  }

  #openOne(path: string): number[] {
    try {
      return [openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)]
    } catch (error) {
      // A terminal has no pipe, and a program that has just ended has none any more.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }
}
