import { randomBytes } from 'node:crypto'
import { pause } from '../base/pause.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { knownEvent, type StoredEvent, untypedEvent } from '../core/process/event.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { Attempt, Stopped } from '../kernel/attempt.ts'
import { endingOfThrown, FinalWrites, isRefused } from '../kernel/final-writes.ts'
import { RunningAttempts } from '../kernel/running-attempts.ts'
import { StopGraces } from '../kernel/stop-graces.ts'
import { systemClock } from '../store/system-clock.ts'
import type { ToolDefinition } from '../verbs/define-tool.ts'
import type { Reeve } from '../verbs/reeve.ts'
import type { WorkflowFunction, WorkflowOptions } from '../verbs/workflow-function.ts'
import { Announcements, ignoreTrouble } from './announcements.ts'
import { DaemonFinalWrites, MAX_RETRY_MS, RETRY_MS } from './daemon-final-writes.ts'
import { EventListeners } from './event-listeners.ts'
import { ServedWork } from './served-work.ts'
import { wireLedger } from './wire-ledger.ts'

/** How long one claim may wait for work. */
const CLAIM_MS = 20_000
/** How many processes it runs at once, those that wait not counted. */
const MAX_AT_ONCE = 100
/** How many processes it holds, those that wait included: somewhat fewer than a claim may name. */
const MAX_HELD = 9_000

/** Requests to a process while it is executed. */
const REQUESTS: ReadonlySet<string> = new Set(['paused', 'resumed', 'stop_requested'])

/**
 * Executes workflow and tool processes of a daemon in this program: announces what it serves, claims, runs, and gives its leases
 * back when it closes. A worker is a holder of its own, so it outlives the daemon and goes on with the next one.
 *
 * | state   | a function is added     | a claim brings work | the daemon is away | `close`                  |
 * | idle    | working                 | –                   | –                  | closed                   |
 * | working | announced with the rest | runs it             | asks again         | gives leases back; closed |
 * | closed  | refused                 | –                   | –                  | –                        |
 */
export class Worker {
  readonly #reeve: Reeve
  readonly #id = `w_${randomBytes(12).toString('hex')}`
  readonly #served: ServedWork
  readonly #closing = new AbortController()
  /** Nothing is written any more. */
  readonly #closed = new AbortController()
  readonly #listeners = new EventListeners()
  readonly #writes: FinalWrites
  readonly #announcements: Announcements
  readonly #graces = new StopGraces({
    clock: systemClock,
    giveUp: (attempt) => this.#giveUpStop(attempt),
    failed: (error) => process.emitWarning(String(error), { type: 'ReeveWarning' }),
  })
  readonly #running = new RunningAttempts((attempt) => this.#graces.forget(attempt))
  /** Claims that are under way, and the requests that arrived meanwhile for processes that are not run here yet. */
  #claims = 0
  readonly #earlyRequests = new Map<Pid, StoredEvent[]>()
  #working: Promise<unknown> | undefined

  constructor(reeve: Reeve) {
    this.#reeve = reeve
    this.#served = new ServedWork(reeve)
    this.#writes = new FinalWrites(new DaemonFinalWrites(reeve, this.#closed.signal))
    this.#announcements = new Announcements(reeve, {
      worker: this.#id,
      serves: () => this.#served.declarations,
      closing: this.#closing.signal,
      findLost: () => this.#claimWithin(0),
    })
  }

  async add(name: string, run: WorkflowFunction, options: WorkflowOptions = {}): Promise<void> {
    this.#refuseIfClosed()
    await this.#serve(this.#served.addWorkflow(name, run, options))
  }

  async addTool(tool: ToolDefinition): Promise<void> {
    this.#refuseIfClosed()
    await this.#serve(this.#served.addTool(tool))
  }

  #refuseIfClosed(): void {
    if (!this.#closing.signal.aborted) return
    throw new ReeveError('closed', 'This client has been closed.', 'Connect again.')
  }

  /** Announces what was added. The event stream begins before the first claim, so that no request to a claimed process is missed. */
  async #serve(takeBack: () => void): Promise<void> {
    const { renewMs, position: after } = await this.#announcements.announce().catch((error: unknown) => {
      takeBack()
      throw error
    })
    this.#working ??= Promise.all([
      this.#announcements.renewEvery(renewMs),
      this.#follow(after),
      this.#claimUntilClosed(),
    ])
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await this.#served.drain()
    for (const attempt of this.#running.all) {
      this.#running.forget(attempt)
      attempt.stop(new Stopped('shutdown', 'The worker is shutting down.'))
    }
    this.#closed.abort()
    await this.#working
    if (!this.#served.isEmpty) await this.#reeve.retireWorker({ worker: this.#id })
  }

  async #claimUntilClosed(): Promise<void> {
    await this.#untilClosed(async () => {
      if (this.#freeSlots <= 0) await pause(systemClock, RETRY_MS, this.#closing.signal)
      else await this.#claimWithin(CLAIM_MS)
    })
  }

  get #freeSlots(): number {
    const { usedSlots, size } = this.#running
    return Math.min(MAX_AT_ONCE - usedSlots, MAX_HELD - size)
  }

  /** Claims work, and learns which leases are lost. */
  async #claimWithin(timeoutMs: number): Promise<void> {
    const executed = new Map(this.#running.all.map((attempt) => [attempt.record.pid, attempt]))
    const known = [...executed.keys()]
    const limit = Math.max(1, this.#freeSlots)
    this.#claims += 1
    try {
      const asked = { worker: this.#id, known, limit, timeoutMs }
      const { work, lost } = await this.#reeve.claimWork(asked, { signal: this.#closing.signal })
      for (const pid of lost) this.#lose(executed.get(pid))
      for (const { record, fence } of work) this.#begin(record, fence)
    } finally {
      this.#claims -= 1
      if (this.#claims === 0) this.#earlyRequests.clear()
    }
  }

  #lose(attempt: Attempt | undefined): void {
    if (attempt === undefined || attempt.over) return
    this.#running.lose(attempt, 'Another worker may have taken it over.')
  }

  /** Follows the daemon's events from a position, and through reconnects. */
  async #follow(from: number): Promise<void> {
    let after: number | undefined = from
    // Both kinds from the start: a stream that starts again for another kind could miss requests.
    const filter = { kind: ['workflow' as const, 'tool' as const], status: 'any' as const }
    await this.#untilClosed(async () => {
      const position: number = after ?? (await this.#announcements.announce()).position
      // A stream that was cut off may have missed events; those are in the log.
      if (after === undefined) await this.#catchUp()
      after = undefined
      const stream = this.#reeve.follow({ after: position, filter }, { signal: this.#closing.signal })
      for await (const event of stream) this.#heard(untypedEvent(event))
    })
  }

  /** Events of processes that run here may have been missed. */
  async #catchUp(): Promise<void> {
    this.#listeners.tellAllOfMissed()
    for (const attempt of this.#running.all) {
      const found = await this.#shown(attempt.record.pid)
      if (found === undefined || found.outcome !== null) this.#lose(attempt)
      if (found === undefined || attempt.over) continue
      const { status, stopRequest } = found
      attempt.request({ type: status === 'paused' ? 'pause' : 'resume' })
      if (stopRequest !== null && attempt.stopped === undefined) this.#stop(attempt, stopRequest)
    }
  }

  /** Undefined if it has ended and was pruned. */
  async #shown(pid: Pid): Promise<ProcessRecord | undefined> {
    try {
      return await this.#reeve.show({ pid })
    } catch (error) {
      if (error instanceof RefusedError) return undefined
      throw error
    }
  }

  #heard(event: StoredEvent): void {
    this.#listeners.tell(event)
    const attempt = this.#running.get(event.pid)
    if (attempt !== undefined) this.#request(attempt, event)
    // The process may be among those that are being claimed.
    else if (this.#claims > 0 && REQUESTS.has(event.type))
      this.#earlyRequests.set(event.pid, [...(this.#earlyRequests.get(event.pid) ?? []), event])
  }

  #request(attempt: Attempt, event: StoredEvent): void {
    const known = knownEvent(event)
    if (known?.type === 'paused') attempt.request({ type: 'pause' })
    if (known?.type === 'resumed') attempt.request({ type: 'resume' })
    if (known?.type === 'stop_requested') this.#stop(attempt, { ...known.payload, at: known.at })
  }

  #stop(attempt: Attempt, request: NonNullable<ProcessRecord['stopRequest']>): void {
    const { how, reason, source } = request
    attempt.stop(new Stopped(how, reason))
    attempt.request({ type: 'stop', how, reason, source })
    if (how === 'kill') return void this.#end(attempt, { status: 'cancelled' })
    this.#graces.watch(attempt, request, this.#served.graceMs(attempt.record))
  }

  async #giveUpStop(attempt: Attempt): Promise<'done' | 'not_yet'> {
    const answer = await this.#writes.giveUpStop(attempt)
    if (answer === 'not_yet') return answer
    this.#running.forget(attempt)
    return 'done'
  }

  #begin(record: ProcessRecord, fence: number): void {
    const former = this.#running.get(record.pid)
    if (this.#closing.signal.aborted || (former !== undefined && former.fenceNumber >= fence)) return
    former?.stop(new Stopped('lease_lost', 'It was taken over, and came back.'))
    const attempt = new Attempt(record, this.#id, fence)
    this.#running.add(attempt)
    for (const event of this.#earlyRequests.get(record.pid) ?? []) this.#request(attempt, event)
    if (record.stopRequest !== null) this.#stop(attempt, record.stopRequest)
    void this.#run(attempt)
  }

  async #run(attempt: Attempt): Promise<void> {
    const { record } = attempt
    const ledger = wireLedger(this.#reeve, attempt, systemClock, {
      onEvents: (listener) => this.#listeners.on(record.pid, listener),
      sure: () => this.#announcements.ensureLeases(),
    })
    try {
      const ending = await this.#served.run(attempt, ledger)
      if (ending === undefined) return
      if (ending.status === 'parked') this.#running.forget(attempt)
      else if (ending.status === 'left') await this.#release(attempt)
      else await this.#end(attempt, ending)
    } catch (error) {
      if (isLost(error)) this.#running.forget(attempt)
      else await this.#end(attempt, endingOfThrown(attempt, error))
    }
  }

  /** Trouble kept it from going on: the process is queued again. */
  async #release(attempt: Attempt): Promise<void> {
    await this.#writes.release(attempt)
    this.#running.forget(attempt)
  }

  async #end(attempt: Attempt, ending: Ending): Promise<void> {
    const answer = await this.#writes.end(attempt, ending, `end:${attempt.fenceNumber}`)
    if (answer === undefined || !isRefused(answer)) return this.#running.forget(attempt)
    // The attempt stays known: forgotten, the process would be claimed and run again and again.
    process.emitWarning(`The end of ${attempt.record.pid} was refused: ${answer.message}`, {
      type: 'ReeveWarning',
    })
  }

  /** Repeats `act`. Retries an unavailable daemon with backoff; a new daemon gets an announcement. */
  async #untilClosed(act: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing
    let delay = RETRY_MS
    while (!signal.aborted) {
      try {
        await act()
        delay = RETRY_MS
      } catch (error) {
        if (signal.aborted) return
        await pause(systemClock, delay, signal)
        delay = Math.min(delay * 2, MAX_RETRY_MS)
        if (error instanceof RefusedError && error.code === 'not_found')
          await this.#announcements.announce().catch(ignoreTrouble)
      }
    }
  }
}

function isLost(error: unknown): boolean {
  if (error instanceof Stopped) return error.why === 'lease_lost' || error.why === 'shutdown'
  return error instanceof RefusedError && error.code === 'stale_fence'
}
