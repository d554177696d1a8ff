import type { StoredEvent } from '../core/process/event.ts'
import { hasEnded } from '../core/process/record.ts'
import type { Attempt } from './attempt.ts'
import type { Edges } from './edges.ts'
import type { RunningAttempts } from './running-attempts.ts'

export interface SettledElsewhereOptions {
  readonly running: RunningAttempts
  /** The kernel that asks for the kills. */
  readonly self: () => string
  /** The keeper that holds the programs. */
  readonly holder: () => string
}

/** Ends programs that a keeper still runs although another kernel has written the end of their processes. */
export class SettledElsewhere {
  readonly #edges: Edges
  readonly #options: SettledElsewhereOptions
  readonly #killed = new WeakSet<Attempt>()

  constructor(edges: Edges, options: SettledElsewhereOptions) {
    this.#edges = edges
    this.#options = options
  }

  /** Handles an end from the feed. */
  ended({ pid, actor }: StoredEvent): void {
    const attempt = this.#options.running.get(pid)
    if (attempt === undefined || attempt.over || !actor.startsWith('kernel:')) return
    // Ends that are seen here are written in the name of the keeper.
    if (actor !== `kernel:${attempt.holder}` && actor !== `kernel:${this.#options.holder()}`)
      this.#kill(attempt)
  }

  /** The keeper's row was removed: other kernels may have written ends that the feed did not bring. */
  async killEnded(): Promise<void> {
    for (const attempt of this.#options.running.all) {
      const row = await this.#edges.store.ask({ ask: 'process', pid: attempt.record.pid })
      if (row === null || hasEnded(row.record)) this.#kill(attempt)
    }
  }

  #kill(attempt: Attempt): void {
    if (this.#killed.has(attempt)) return
    this.#killed.add(attempt)
    const source = `kernel:${this.#options.self()}` as const
    attempt.request({ type: 'stop', how: 'kill', reason: 'its keeper was removed', source, graceMs: 1 })
  }
}
