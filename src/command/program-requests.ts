import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { EndAnswer } from '../keeper/protocol/messages.ts'
import type { Request, StopRequest } from '../kernel/executor.ts'
import type { KeeperConnection } from './keeper-connection.ts'
import { KeeperRefused, LinkLost } from './keeper-link.ts'
import type { OwnLimits } from './plan.ts'
import type { Ended } from './program-state.ts'

/** Declared here, because the published types must not need a newer TypeScript library than their users have. */
interface Resolvers<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
}

/** One command that this kernel executes, with the requests for it. Before its program has begun, they are only remembered. */
export interface Running {
  readonly record: ProcessRecord
  readonly ended: Resolvers<Ended>
  readonly stopAsked: Resolvers<void>
  begun: boolean
  stop: StopRequest | undefined
  paused: boolean
  /** The limits that were set since the start; undefined while those of the plan apply. */
  limits: OwnLimits | undefined
}

export function runningOf(record: ProcessRecord): Running {
  const { stopRequest } = record
  return {
    record,
    ended: Promise.withResolvers<Ended>(),
    stopAsked: Promise.withResolvers<void>(),
    begun: false,
    stop: stopRequest === null ? undefined : { type: 'stop', ...stopRequest },
    paused: false,
    limits: undefined,
  }
}

export interface ProgramRequestsOptions {
  readonly ask: KeeperConnection['ask']
  /** The signal that asks this program to end, and its grace, for a request that does not say. */
  readonly ends: (record: ProcessRecord, request: StopRequest) => { signal: string; graceMs: number }
  readonly inBackground: (doing: string, task: () => Promise<unknown>) => void
}

const ENDINGS_KEPT_MS = 30_000

/** Passes requests for running programs to the keeper: at once, and again whenever the keeper may have missed them. */
export class ProgramRequests {
  readonly #options: ProgramRequestsOptions
  /** The ends that are in progress, or were recently. */
  readonly #endings = new Map<Pid, Promise<EndAnswer>>()

  constructor(options: ProgramRequestsOptions) {
    this.#options = options
  }

  make(running: Running, request: Request): void {
    const { ask, ends, inBackground } = this.#options
    const { pid } = running.record
    if (request.type === 'stop') {
      running.stop = request
      running.stopAsked.resolve()
      if (!running.begun) return
      const ending = ask('end', { pid, ...ends(running.record, request) })
      this.#endings.set(pid, ending)
      inBackground(`ending ${pid}`, () => ending.finally(() => this.#endedLately(pid, ending)))
      return
    }
    running.paused = request.type === 'pause'
    if (running.begun) inBackground(`${request.type} of ${pid}`, () => ask(request.type, { pid }))
  }

  /** An older keeper keeps the limits of the start (`bad_ask`), and a program that has ended (`unknown_pid`) needs none. */
  limit(running: Running, limits: OwnLimits): void {
    const { ask, inBackground } = this.#options
    running.limits = limits
    const { pid } = running.record
    inBackground(`limiting ${pid}`, async () => {
      try {
        await ask('limits', { pid, ...limits })
      } catch (error) {
        if (!(error instanceof KeeperRefused)) throw error
        if (error.refusal.code !== 'bad_ask' && error.refusal.code !== 'unknown_pid') throw error
      }
    })
  }

  makeAgain(running: Running, isPaused: boolean): void {
    if (running.limits !== undefined) this.limit(running, running.limits)
    if (running.paused !== isPaused) this.make(running, { type: running.paused ? 'pause' : 'resume' })
    // Last, because an end resumes a paused program.
    if (running.stop !== undefined) this.make(running, running.stop)
  }

  /** The keeper's answer to the end that was requested, if one was. */
  async endAnswer(pid: Pid): Promise<EndAnswer | undefined> {
    try {
      return await this.#endings.get(pid)
    } catch (error) {
      // The end is requested again when a keeper is connected.
      if (error instanceof LinkLost) return undefined
      throw error
    }
  }

  /** Keeps the answer for a while, for callers that wait for the end of the process. */
  #endedLately(pid: Pid, ending: Promise<EndAnswer>): void {
    setTimeout(() => {
      if (this.#endings.get(pid) === ending) this.#endings.delete(pid)
    }, ENDINGS_KEPT_MS).unref()
  }
}
