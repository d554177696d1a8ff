import { closeSync, constants, fstatSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../base/error-text.ts'
import type { Pid } from '../core/process/pid.ts'

/**
 * Holds a second read descriptor for every output pipe, and never reads from it. The unread bytes of a pipe vanish when its
 * last holder closes it: if the keeper dies, and the program ends before the next keeper opens the pipe, this keeps them.
 *
 * To leave no gap, a pipe is *reserved* before its program is started: one of the keeper's spare FIFOs is opened here, and named
 * in the request. If the keeper takes another FIFO, this opens it once the program runs.
 */
export class SpareReaders {
  readonly #fifos: string
  readonly #open = new Map<Pid, readonly number[]>()
  /** The spare FIFOs of the last listing that are not reserved yet. */
  #stock: string[] = []

  constructor(fifos: string) {
    this.#fifos = fifos
  }

  /** Opens `count` spare FIFOs for a program that is about to be started, or fewer if there are fewer. Returns their names. */
  reserve(pid: Pid, count: number): string[] {
    this.release(pid)
    if (this.#stock.length < count) this.#stock = this.#listed()
    const reserved: string[] = []
    for (let name = this.#stock.pop(); name !== undefined; name = this.#stock.pop()) {
      if (this.#openOne(pid, name)) reserved.push(name)
      if (reserved.length === count) break
    }
    return reserved
  }

  /** The program runs: opens its pipes, and releases reserved ones that it does not use. */
  openFor(pid: Pid): void {
    const names = ['out', 'err'].map((end) => `${pid}.${end}`)
    const opened = new Set((this.#open.get(pid) ?? []).map((descriptor) => fstatSync(descriptor).ino))
    const wanted = names.flatMap(
      (name) => statSync(join(this.#fifos, name), { throwIfNoEntry: false })?.ino ?? [],
    )
    if (opened.size === wanted.length && wanted.every((ino) => opened.has(ino))) return
    this.release(pid)
    for (const name of names) this.#openOne(pid, name)
  }

  release(pid: Pid): void {
    for (const descriptor of this.#open.get(pid) ?? []) closeSync(descriptor)
    this.#open.delete(pid)
  }

  close(): void {
    for (const pid of [...this.#open.keys()]) this.release(pid)
  }

  /** Spare FIFOs have no ending; those in use are called by pid and stream. */
  #listed(): string[] {
    return readdirSync(this.#fifos).filter((name) => !/\.(out|err|in)$/.test(name))
  }

  #openOne(pid: Pid, name: string): boolean {
    try {
      const descriptor = openSync(join(this.#fifos, name), constants.O_RDONLY | constants.O_NONBLOCK)
      this.#open.set(pid, [...(this.#open.get(pid) ?? []), descriptor])
      return true
    } catch (error) {
      // A terminal has no pipe, the pipe of an ended program is gone, and a spare one may be in use by now.
      if (codeOf(error) === 'ENOENT') return false
      throw error
    }
  }
}
