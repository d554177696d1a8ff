import { closeSync } from 'node:fs'

/** Descriptors on their way to a program: its own are closed here as soon as it has them, all if it never begins. */
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

  /** What else is to be taken back if it never begins. */
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
