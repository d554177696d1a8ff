import { whoIs } from '../os/identity.ts'
import type { ProgramIdentity } from './protocol/program-state.ts'

/**
 * Polls for the end of programs that a dead keeper started: they are not children of this one, so no exit is reported. Polls only
 * while there are any.
 */
export class OrphanWatch {
  readonly #watched = new Map<ProgramIdentity, () => void>()
  #timer: NodeJS.Timeout | null = null

  add(program: ProgramIdentity, gone: () => void): void {
    this.#watched.set(program, gone)
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  #look(): void {
    for (const [program, gone] of [...this.#watched]) {
      if (whoIs(program) === 'ours') continue
      this.#watched.delete(program)
      gone()
    }
    if (this.#watched.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}

const LOOK_EVERY_MS = 250
