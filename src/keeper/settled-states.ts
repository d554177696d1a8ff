import { messageOf } from '../base/error-text.ts'
import type { LiveFiles, SettledState } from './program/live-files.ts'

const RETRY_MS = 1000

interface SettledStatesOptions {
  readonly live: LiveFiles
  /** Whether a daemon is connected, which gets each end at once. */
  hasDaemon(): boolean
  trouble(pid: string, message: string): void
  /** A state was written that could not be before. */
  changed(): void
}

/** The states of programs that have ended, in memory and on disk, until the daemon has acknowledged them. */
export class SettledStates {
  readonly #options: SettledStatesOptions
  readonly #states = new Map<string, SettledState>()
  /** The disk has not taken these yet. */
  readonly #unwritten = new Set<string>()
  #retry: NodeJS.Timeout | null = null

  constructor(options: SettledStatesOptions) {
    this.#options = options
  }

  get unwrittenCount(): number {
    return this.#unwritten.size
  }

  get(pid: string): SettledState | undefined {
    return this.#states.get(pid)
  }

  has(pid: string): boolean {
    return this.#states.has(pid)
  }

  all(): SettledState[] {
    return [...this.#states.values()]
  }

  /** Adds a state that is on disk already. */
  add(state: SettledState): void {
    this.#states.set(state.pid, state)
  }

  /** Writes a state to disk. If the disk does not take it, it is tried again until it does. */
  record(state: SettledState): void {
    this.#states.set(state.pid, state)
    const { live, hasDaemon, trouble } = this.#options
    try {
      live.writeSettled(state, !hasDaemon())
      this.#unwritten.delete(state.pid)
    } catch (error) {
      if (!this.#unwritten.has(state.pid))
        trouble(state.pid, `Its end can't be written, and is tried again: ${messageOf(error)}.`)
      this.#unwritten.add(state.pid)
      this.#retry ??= setTimeout(() => this.#recordAgain(), RETRY_MS)
    }
  }

  delete(pid: string): void {
    this.#states.delete(pid)
    this.#unwritten.delete(pid)
  }

  #recordAgain(): void {
    this.#retry = null
    for (const pid of [...this.#unwritten]) {
      const state = this.#states.get(pid)
      if (state !== undefined) this.record(state)
    }
    this.#options.changed()
  }
}
