import type { EventOf } from '../core/process/event.ts'
import { mayGiveUpStop } from '../core/process/give-up-stop.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Attempt, Stopped } from './attempt.ts'
import type { Edges } from './edges.ts'
import type { StopRequest } from './executor.ts'
import type { RunningAttempts } from './running-attempts.ts'
import type { ServedProcesses } from './served-processes.ts'
import { StopGraces } from './stop-graces.ts'

export interface AttemptStopsOptions {
  readonly running: RunningAttempts
  readonly served: ServedProcesses
  /** Whether a claim or a registration is under way, so that a stop may concern a process that is not known here yet. */
  readonly mayBeGranted: () => boolean
  /** Writes the end of a killed attempt. */
  readonly end: (attempt: Attempt) => Promise<void>
  readonly giveUp: (attempt: Attempt) => Promise<'done' | 'not_yet'>
}

/** When a stop was requested: its grace counts from then on. */
export type TimedStop = Omit<StopRequest, 'type'> & { readonly at: number }

/**
 * Delivers stops to running attempts: aborts the code, ends a killed attempt at once, and gives up one that ignores the
 * request. A program that a keeper holds is ended by its executor alone, which sees how the program really ended.
 */
export class AttemptStops {
  readonly #edges: Edges
  readonly #options: AttemptStopsOptions
  readonly #graces: StopGraces
  /** Stops that arrived before the claim or registration they concern returned from the store. */
  readonly #early = new Map<Pid, EventOf<'stop_requested'>>()

  constructor(edges: Edges, options: AttemptStopsOptions) {
    this.#edges = edges
    this.#options = options
    this.#graces = new StopGraces({
      clock: edges.clock,
      giveUp: options.giveUp,
      failed: (error, { record }) => edges.onTrouble(error, `stopping ${record.pid}`),
    })
  }

  /** Handles a stop from the feed. */
  requested(event: EventOf<'stop_requested'>): void {
    const attempt = this.#options.running.get(event.pid)
    if (attempt === undefined && this.#options.mayBeGranted()) this.#early.set(event.pid, event)
    if (attempt === undefined || attempt.over) return
    this.stop(attempt, { ...event.payload, at: event.at })
  }

  /** Delivers a stop that arrived before the attempt began. */
  deliverEarly(pid: Pid): void {
    const early = this.#early.get(pid)
    if (early !== undefined) this.requested(early)
  }

  forgetEarly(): void {
    if (!this.#options.mayBeGranted()) this.#early.clear()
  }

  stop(attempt: Attempt, stop: TimedStop): void {
    attempt.stop(new Stopped(stop.how, stop.reason))
    const { how, reason, source, graceMs } = stop
    attempt.request({ type: 'stop', how, reason, source, ...(graceMs === undefined ? {} : { graceMs }) })
    const { served, end } = this.#options
    if (served.keeping !== undefined) return
    const { record } = attempt
    if (how !== 'kill') {
      if (mayGiveUpStop(record))
        this.#graces.watch(attempt, stop, served.runnerOf(record)?.graceMs?.(record) ?? 0)
      return
    }
    end(attempt).catch((error: unknown) => this.#edges.onTrouble(error, `killing ${attempt.record.pid}`))
  }

  /** Stops a program that a keeper holds, without a write; its end is written when the store accepts it. */
  askKept(pid: Pid, stop: Omit<StopRequest, 'type'>): boolean {
    const { served, running } = this.#options
    const attempt = served.keeping === undefined ? undefined : running.get(pid)
    if (attempt === undefined || attempt.over) return false
    this.stop(attempt, { ...stop, at: this.#edges.clock.now() })
    return true
  }

  /** The attempt is over: it is not given up later. */
  forget(attempt: Attempt): void {
    this.#graces.forget(attempt)
  }
}
