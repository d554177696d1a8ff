import { randomBytes } from 'node:crypto'
import { ReeveError, RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { Run } from '../engine/run.ts'
import { Attempt, Stopped } from '../kernel/attempt.ts'
import { systemClock } from '../store/system-clock.ts'
import type { EngineFunction, EngineOptions } from '../verbs/durable-function.ts'
import type { InputOf, Reeve } from '../verbs/reeve.ts'
import { wireLedger } from './wire-ledger.ts'

/** How long one question for work may take. */
const CLAIM_MS = 20_000
const AT_ONCE = 100
const RETRY_MS = 500
const RETRY_MAX_MS = 10_000

interface Served {
  readonly run: EngineFunction
  readonly options: EngineOptions
}

/**
 * Executes engine processes of a daemon in this program: announces what it serves, claims, runs, and gives back what
 * it holds when it is closed. It is a holder of its own, so it outlives the daemon: with the next one it goes on.
 *
 * | state   | a function is added    | an answer brings work | the daemon is away | `close`           |
 * | idle    | working                | –                     | –                  | closed            |
 * | working | announced with the rest | run                  | asks again         | gives back; closed |
 * | closed  | refused                | –                     | –                  | –                 |
 */
export class Worker {
  readonly #reeve: Reeve
  readonly #id = `w_${randomBytes(12).toString('hex')}`
  readonly #functions = new Map<string, Served>()
  readonly #running = new Map<Pid, Attempt>()
  readonly #listeners = new Map<Pid, Set<(events: readonly StoredEvent[] | null) => void>>()
  readonly #closing = new AbortController()
  #working: Promise<unknown> | undefined

  constructor(reeve: Reeve) {
    this.#reeve = reeve
  }

  async add(name: string, run: EngineFunction, options: EngineOptions = {}): Promise<void> {
    if (this.#closing.signal.aborted)
      throw new ReeveError('closed', 'This client has been closed.', 'Connect again.')
    if (this.#functions.has(name)) {
      throw new RefusedError(
        refusal(
          'conflict',
          `The engine ${name} is served here already.`,
          'Give each function a name of its own.',
        ),
      )
    }
    this.#functions.set(name, { run, options })
    // What happens to a process after it was claimed is heard: the stream begins before the first claim.
    const { renewMs, position: after } = await this.#announce()
    this.#working ??= Promise.all([this.#keepAnnounced(renewMs), this.#follow(after), this.#claim()])
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    const attempts = [...this.#running.values()]
    for (const attempt of attempts) {
      attempt.over = true
      attempt.stop(new Stopped('shutdown', 'The worker is shutting down.'))
    }
    this.#running.clear()
    await this.#working
    if (this.#functions.size > 0) await this.#reeve.retireWorker({ worker: this.#id })
  }

  #announce() {
    return this.#reeve.announceWorker({ worker: this.#id, engines: [...this.#functions.keys()] })
  }

  /** Missed renewals cost the leases only when somebody else has claimed them; then the next write says so. */
  async #keepAnnounced(renewMs: number): Promise<void> {
    for (;;) {
      await this.#pause(renewMs)
      if (this.#closing.signal.aborted) return
      await this.#announce().catch(ignoreTrouble)
    }
  }

  async #claim(): Promise<void> {
    await this.#untilClosed(async () => {
      const known = [...this.#running.keys()]
      const limit = AT_ONCE - known.length
      if (limit <= 0) return this.#pause(RETRY_MS)
      const asked = { worker: this.#id, known, limit, timeoutMs: CLAIM_MS }
      const { work } = await this.#reeve.claimWork(asked, { signal: this.#closing.signal })
      for (const { record, fence } of work) this.#begin(record, fence)
    })
  }

  /** One stream of events serves all that is run here. */
  async #follow(from: number): Promise<void> {
    let after: number | undefined = from
    const filter = { kind: ['engine' as const], status: 'any' as const }
    await this.#untilClosed(async () => {
      const position: number = after ?? (await this.#here())
      // Taken up anew, it may have missed some: they are in the log.
      if (after === undefined)
        for (const listeners of this.#listeners.values())
          for (const listener of [...listeners]) listener(null)
      after = undefined
      const stream = this.#reeve.follow({ after: position, filter }, { signal: this.#closing.signal })
      for await (const event of stream) this.#heard(event)
    })
  }

  async #here(): Promise<number> {
    return (await this.#announce()).position
  }

  #heard(event: StoredEvent): void {
    for (const listener of [...(this.#listeners.get(event.pid) ?? [])]) listener([event])
    const attempt = this.#running.get(event.pid)
    if (attempt === undefined) return
    if (event.type === 'paused') attempt.request({ type: 'pause' })
    if (event.type === 'resumed') attempt.request({ type: 'resume' })
    if (event.type === 'stop_requested')
      this.#stop(attempt, event.payload as unknown as NonNullable<ProcessRecord['stopRequest']>)
  }

  #stop(attempt: Attempt, { how, reason, source }: NonNullable<ProcessRecord['stopRequest']>): void {
    attempt.stop(new Stopped(how, reason))
    attempt.request({ type: 'stop', how, reason, source })
    if (how === 'kill') void this.#end(attempt, { status: 'cancelled' })
  }

  #begin(record: ProcessRecord, fence: number): void {
    const former = this.#running.get(record.pid)
    if (this.#closing.signal.aborted || (former !== undefined && former.fenceNumber >= fence)) return
    former?.stop(new Stopped('lease_lost', 'It was taken over, and came back.'))
    const attempt = new Attempt(record, this.#id, fence)
    this.#running.set(record.pid, attempt)
    if (record.stopRequest !== null) this.#stop(attempt, record.stopRequest)
    void this.#run(attempt)
  }

  async #run(attempt: Attempt): Promise<void> {
    const { record } = attempt
    const served = this.#functions.get(String(record.spec['engine']))
    if (served === undefined) return
    const ledger = wireLedger(this.#reeve, attempt, systemClock, (listener) => this.#on(record.pid, listener))
    try {
      const ending = await new Run(ledger, served.options).run(served.run)
      if (ending.status === 'parked') this.#forget(attempt)
      else if (ending.status === 'left') await this.#putBack(attempt)
      else {
        const { status, reason, result } = ending
        await this.#end(attempt, {
          status,
          ...(reason === undefined || reason === null ? {} : { reason }),
          ...(result === undefined ? {} : { result }),
        })
      }
    } catch (error) {
      if (isLost(error)) this.#forget(attempt)
      else await this.#end(attempt, thrown(attempt, error))
    }
  }

  /** Gives its lease back; a fence that is stale gives nothing back. */
  async #putBack(attempt: Attempt): Promise<void> {
    const { fence } = attempt.fence()
    const { pid } = attempt.record
    await this.#insist(attempt, async () => {
      await this.#reeve.doWork({ worker: this.#id, pid, fence, act: { type: 'release' } })
    })
    this.#forget(attempt)
  }

  async #end(attempt: Attempt, ending: Ending): Promise<void> {
    let said = ending
    await this.#insist(attempt, async () => {
      try {
        const act = { type: 'end', ...said } as const
        const { fence } = attempt.fence()
        await this.#reeve.doWork({ worker: this.#id, pid: attempt.record.pid, fence, act })
      } catch (error) {
        if (!(error instanceof RefusedError) || error.code !== 'payload_too_large') throw error
        said = { status: 'failed', reason: error.message }
        throw new ReeveError('outcome_unknown', error.message, error.remedy)
      }
    })
    this.#forget(attempt)
  }

  /** Until it is written, or is not ours to write any more. */
  async #insist(attempt: Attempt, act: () => Promise<void>): Promise<void> {
    for (let delay = RETRY_MS; !attempt.over; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      try {
        return await act()
      } catch (error) {
        if (!(error instanceof ReeveError) || error instanceof RefusedError) return
      }
      await this.#pause(delay)
    }
  }

  #forget(attempt: Attempt): void {
    attempt.over = true
    if (this.#running.get(attempt.record.pid) === attempt) this.#running.delete(attempt.record.pid)
  }

  #on(pid: Pid, listener: (events: readonly StoredEvent[] | null) => void): () => void {
    const listeners = this.#listeners.get(pid) ?? new Set()
    this.#listeners.set(pid, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(pid)
    }
  }

  /** Again and again; a daemon that is away is asked again after a while, and told who is there. */
  async #untilClosed(act: () => Promise<void>): Promise<void> {
    let delay = RETRY_MS
    while (!this.#closing.signal.aborted) {
      try {
        await act()
        delay = RETRY_MS
      } catch (error) {
        if (this.#closing.signal.aborted) return
        await this.#pause(delay)
        delay = Math.min(delay * 2, RETRY_MAX_MS)
        if (error instanceof RefusedError && error.code === 'not_found')
          await this.#announce().catch(ignoreTrouble)
      }
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const over = () => {
        cancel()
        signal.removeEventListener('abort', over)
        resolve()
      }
      const cancel = systemClock.after(ms, over)
      signal.addEventListener('abort', over)
    })
  }
}

type Ending = Omit<Extract<InputOf<'doWork'>['act'], { type: 'end' }>, 'type'>

function thrown(attempt: Attempt, error: unknown): Ending {
  if (attempt.stopped !== undefined) return { status: 'cancelled' }
  const message = error instanceof Error ? error.message : String(error)
  return { status: 'failed', reason: message, result: { error: message } satisfies Json }
}

function isLost(error: unknown): boolean {
  if (error instanceof Stopped) return error.why === 'lease_lost' || error.why === 'shutdown'
  return error instanceof RefusedError && error.code === 'stale_fence'
}

function ignoreTrouble(error: unknown): void {
  if (!(error instanceof ReeveError)) throw error
}
