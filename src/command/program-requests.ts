import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { EndAnswer } from '../keeper/protocol/messages.ts'
import type { Request, StopRequest } from '../kernel/executor.ts'
import type { KeeperConnection } from './keeper-connection.ts'
import { KeeperRefused, LinkLost } from './keeper-link.ts'
import type { OwnLimits } from './plan.ts'
import type { Ended } from './program-state.ts'

/** Spelled out: the package's types must not need a newer library of the compiler than their users have. */
interface Resolvers<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
}

/** What this kernel asks of one command's program while it runs. Before it has begun, that is remembered only. */
export interface Running {
  readonly record: ProcessRecord
  readonly ended: Resolvers<Ended>
  readonly stopAsked: Resolvers<void>
  begun: boolean
  stop: StopRequest | undefined
  paused: boolean
  /** What it may use itself, where that has been read; until then its plan says. */
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
  /** What asks this program to end, and how long it may take, for a request that does not say. */
  readonly ends: (record: ProcessRecord, request: StopRequest) => { signal: string; graceMs: number }
  readonly inBackground: (doing: string, task: () => Promise<unknown>) => void
}

const ENDINGS_KEPT_MS = 30_000

/** Asks the keeper what was asked of running programs: at once, and again whenever it may not have heard. */
export class ProgramRequests {
  readonly #options: ProgramRequestsOptions
  /** The ends that are under way, or were lately. */
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

  /** A keeper of earlier days keeps to what it was told at the start, and one that has ended needs no limits. */
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
    // Last: it goes on with what is paused.
    if (running.stop !== undefined) this.make(running, running.stop)
  }

  /** How the end that was asked for went, if one was. */
  async endAnswer(pid: Pid): Promise<EndAnswer | undefined> {
    try {
      return await this.#endings.get(pid)
    } catch (error) {
      // It is asked for again when there is a keeper.
      if (error instanceof LinkLost) return undefined
      throw error
    }
  }

  /** Whoever waits for the process's end still wants to know; nobody does long after. */
  #endedLately(pid: Pid, ending: Promise<EndAnswer>): void {
    setTimeout(() => {
      if (this.#endings.get(pid) === ending) this.#endings.delete(pid)
    }, ENDINGS_KEPT_MS).unref()
  }
}
