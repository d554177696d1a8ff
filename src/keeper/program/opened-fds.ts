import { closeSync } from 'node:fs'

/** Descriptors for a program: its own are closed here once it has them, and all of them if it never begins. */
export class OpenedFds {
  readonly #keepers: number[] = []
  readonly #programs: number[] = []
  readonly #undo: (() => void)[] = []

  keepers(fd: number): number {
    this.#keepers.push(fd)
    return fd
  }

  programs(fd: number): number {
    this.#programs.push(fd)
    return fd
  }

  /** What else to undo if the program never begins. */
  otherwise(undo: () => void): void {
    this.#undo.push(undo)
  }

  closePrograms(): void {
    for (const fd of this.#programs.splice(0)) closeSync(fd)
  }

  closeAll(): void {
    this.closePrograms()
    for (const fd of this.#keepers.splice(0)) closeSync(fd)
    for (const undo of this.#undo.splice(0)) undo()
  }
}
