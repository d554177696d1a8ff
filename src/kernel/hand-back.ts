import { StoreError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Attempt, Stopped } from './attempt.ts'
import type { TimedStop } from './attempt-stops.ts'
import type { Edges } from './edges.ts'
import { perform } from './perform.ts'
import type { RunningAttempts } from './running-attempts.ts'

/** How long a close waits for processes that end with the daemon. A slower one has its stop on record for the next kernel. */
const DRAIN_MS = 15_000

export interface HandBackOptions {
  readonly running: RunningAttempts
  readonly holder: () => string
  readonly isKept: boolean
  readonly stop: (attempt: Attempt, stop: TimedStop) => void
  readonly forgetStop: (attempt: Attempt) => void
}

/** How a closing kernel gives up its remaining attempts. */
export class HandBack {
  readonly #edges: Edges
  readonly #options: HandBackOptions
  /** Attempts that were told to end with the daemon. */
  readonly #told = new WeakSet<Attempt>()

  constructor(edges: Edges, options: HandBackOptions) {
    this.#edges = edges
    this.#options = options
  }

  /** Ends the kept processes whose lifetime is the daemon's; the rest stays with the keeper. Answers with their pids. */
  async endWithDaemon(): Promise<Pid[]> {
    const { isKept, running } = this.#options
    if (!isKept) return []
    const ending = running.all.filter(
      (attempt) => attempt.record.lifetime === 'daemon' && !this.#told.has(attempt),
    )
    for (const attempt of ending) this.#told.add(attempt)
    await Promise.all(
      ending.map(async (attempt) => {
        await this.#stopWithDaemon(attempt)
        await this.#endedWithin(attempt, DRAIN_MS)
        if (attempt.over || attempt.isUnrecorded) return
        const message = `${attempt.record.pid} still runs, though it was to end with the daemon.`
        this.#edges.onTrouble(new Error(message), 'closing')
      }),
    )
    return ending.map(({ record }) => record.pid)
  }

  /** Gives the lease back: a rerunnable process is queued again, any other ends as `holder_drain`. A keeper keeps its own. */
  async handBack(attempt: Attempt): Promise<void> {
    if (attempt.over) return
    attempt.over = true
    const { isKept, running, forgetStop } = this.#options
    forgetStop(attempt)
    attempt.stop(new Stopped('shutdown', 'The kernel is shutting down.'))
    if (!isKept)
      await perform(this.#edges, { type: 'release', ...this.#asked(attempt), fence: attempt.fence() })
    running.remove(attempt)
  }

  /** If the store cannot record the stop, the executor gets the stop without a record, and the next kernel records the end. */
  async #stopWithDaemon(attempt: Attempt): Promise<void> {
    const asked = this.#asked(attempt)
    const stop = { how: 'cancel', reason: 'lifetime: the daemon is shutting down' } as const
    const replayKey = `drain:${attempt.fenceNumber}`
    try {
      await perform(this.#edges, { type: 'stop', ...asked, ...stop, cause: null, replayKey })
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.#options.stop(attempt, { ...stop, source: asked.actor, at: asked.at })
    }
  }

  async #endedWithin(attempt: Attempt, ms: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#edges.clock.after(ms, late.resolve)
    await Promise.race([attempt.ended, late.promise])
    cancel()
  }

  #asked(attempt: Attempt) {
    const actor = `kernel:${this.#options.holder()}` as const
    return { pid: attempt.record.pid, actor, at: this.#edges.clock.now() }
  }
}
