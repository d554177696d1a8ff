import { closeSync, constants, fstatSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Pid } from '../core/process/pid.ts'

/**
 * A second read descriptor for every output pipe, which nobody reads from. A pipe's unread bytes vanish when its last
 * holder closes it: should the keeper die and the program end before the next keeper opens the pipe, this keeps them.
 *
 * So that there is no moment without, a pipe is *reserved* before its program is asked for: one of those that the keeper has
 * in stock is opened here and named to it. If it takes another all the same, that one is opened when the program is there.
 */
export class SpareReaders {
  readonly #fifos: string
  readonly #open = new Map<Pid, readonly number[]>()
  /** In stock when it was last looked, and not reserved since. */
  #stock: string[] = []

  constructor(fifos: string) {
    this.#fifos = fifos
  }

  /** Holds as many for a program that is about to be asked for, and answers with their names. Fewer where there are fewer. */
  reserve(pid: Pid, count: number): string[] {
    this.release(pid)
    if (this.#stock.length < count) this.#stock = this.#listed()
    const reserved: string[] = []
    for (let name = this.#stock.pop(); name !== undefined; name = this.#stock.pop()) {
      if (this.#holdOne(pid, name)) reserved.push(name)
      if (reserved.length === count) break
    }
    return reserved
  }

  /** Its program is there: what was reserved for it is what it has, or is let go for that. */
  hold(pid: Pid): void {
    const names = ['out', 'err'].map((end) => `${pid}.${end}`)
    const held = new Set((this.#open.get(pid) ?? []).map((descriptor) => fstatSync(descriptor).ino))
    const wanted = names.flatMap(
      (name) => statSync(join(this.#fifos, name), { throwIfNoEntry: false })?.ino ?? [],
    )
    if (held.size === wanted.length && wanted.every((ino) => held.has(ino))) return
    this.release(pid)
    for (const name of names) this.#holdOne(pid, name)
  }

  release(pid: Pid): void {
    for (const descriptor of this.#open.get(pid) ?? []) closeSync(descriptor)
    this.#open.delete(pid)
  }

  close(): void {
    for (const pid of [...this.#open.keys()]) this.release(pid)
  }

  /** Those of programs bear their pid, and which end they are. */
  #listed(): string[] {
    return readdirSync(this.#fifos).filter((name) => !/\.(out|err|in)$/.test(name))
  }

  #holdOne(pid: Pid, name: string): boolean {
    try {
      const descriptor = openSync(join(this.#fifos, name), constants.O_RDONLY | constants.O_NONBLOCK)
      this.#open.set(pid, [...(this.#open.get(pid) ?? []), descriptor])
      return true
    } catch (error) {
      // A terminal has no pipe, a program that has just ended has none any more, and what was in stock may be in use.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  }
}
