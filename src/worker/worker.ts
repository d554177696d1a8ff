import { randomBytes } from 'node:crypto'
import { messageOf } from '../base/error-text.ts'
import { pause } from '../base/pause.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { Attempt, Stopped } from '../kernel/attempt.ts'
import { StopGraces } from '../kernel/stop-graces.ts'
import { systemClock } from '../store/system-clock.ts'
import type { WorkflowFunction, WorkflowOptions } from '../verbs/durable-function.ts'
import type { InputOf, OutputOf, Reeve } from '../verbs/reeve.ts'
import { checkOptions, checkRetry } from '../workflow/retry.ts'
import { GRACE_MS, Run } from '../workflow/run.ts'
import { isTrouble } from '../workflow/writing.ts'
import { wireLedger } from './wire-ledger.ts'

/** How long one question for work may take. */
const CLAIM_MS = 20_000
const AT_ONCE = 100
const RETRY_MS = 500
const RETRY_MAX_MS = 10_000

/** What is asked of a process while it is executed. */
const ASKED: ReadonlySet<string> = new Set(['paused', 'resumed', 'stop_requested'])

interface Served {
  readonly run: WorkflowFunction
  readonly options: WorkflowOptions
}

/**
 * Executes workflow processes of a daemon in this program: announces what it serves, claims, runs, and gives back what
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
  /** Nothing is written any more. */
  readonly #closed = new AbortController()
  readonly #runs = new Set<Run>()
  readonly #graces = new StopGraces({
    clock: systemClock,
    giveUp: (attempt) => this.#giveUpStop(attempt),
    failed: (error) => process.emitWarning(String(error), { type: 'ReeveWarning' }),
  })
  #announcing: Promise<unknown> = Promise.resolve()
  /** When it was last certain that all leases are still held, and for how long that counts. */
  #certain: number | undefined
  #ttlMs = 0
  #asking: Promise<void> | undefined
  /** Questions for work that are under way, and what was asked meanwhile of processes that are not run here (yet). */
  #claims = 0
  readonly #early = new Map<Pid, StoredEvent[]>()
  #working: Promise<unknown> | undefined

  constructor(reeve: Reeve) {
    this.#reeve = reeve
  }

  async add(name: string, run: WorkflowFunction, options: WorkflowOptions = {}): Promise<void> {
    if (this.#closing.signal.aborted)
      throw new ReeveError('closed', 'This client has been closed.', 'Connect again.')
    if (this.#functions.has(name)) {
      throw new RefusedError(
        refusal(
          'conflict',
          `The workflow ${name} is served here already.`,
          'Give each function a name of its own.',
        ),
      )
    }
    checkOptions(`The workflow ${name}`, options, ['retry', 'parkAfterMs', 'graceMs'])
    checkRetry(options.retry)
    this.#functions.set(name, { run, options })
    // What happens to a process after it was claimed is heard: the stream begins before the first claim.
    const { renewMs, position: after } = await this.#announce().catch((error: unknown) => {
      this.#functions.delete(name)
      throw error
    })
    this.#working ??= Promise.all([this.#keepAnnounced(renewMs), this.#follow(after), this.#claim()])
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await Promise.all([...this.#runs].map((run) => run.drain()))
    for (const attempt of this.#running.values()) {
      attempt.over = true
      this.#graces.forget(attempt)
      attempt.stop(new Stopped('shutdown', 'The worker is shutting down.'))
    }
    this.#running.clear()
    this.#closed.abort()
    await this.#working
    if (this.#functions.size > 0) await this.#reeve.retireWorker({ worker: this.#id })
  }

  /** One at a time: the last one says all that is served. */
  #announce(): Promise<OutputOf<'announceWorker'>> {
    const announce = async () => {
      const sent = systemClock.now()
      const answer = await this.#reeve.announceWorker({
        worker: this.#id,
        workflows: [...this.#functions.keys()],
      })
      this.#ttlMs = answer.ttlMs
      this.#certain ??= sent
      // Only a row that has not lapsed in between keeps the leases.
      if (systemClock.now() - this.#certain <= answer.ttlMs) this.#certain = sent
      return answer
    }
    const announced = this.#announcing.then(announce)
    this.#announcing = announced.catch(() => undefined)
    return announced
  }

  /** Nobody else has taken a lease from this worker since it announced itself the last time, unless that is too long ago. */
  #sure(): Promise<void> | undefined {
    const { signal } = this.#closing
    if (signal.aborted || systemClock.now() - (this.#certain ?? 0) <= this.#ttlMs) return undefined
    this.#asking ??= this.#askWhatIsLost().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #askWhatIsLost(): Promise<void> {
    const sent = systemClock.now()
    try {
      await this.#announce()
      await this.#claimWithin(0)
      this.#certain = sent
    } catch (error) {
      // Called off: nothing more is begun.
      if (!this.#closing.signal.aborted) throw error
    }
  }

  /** Missed renewals cost the leases only when somebody else has claimed them: then it stops what it has lost. */
  async #keepAnnounced(renewMs: number): Promise<void> {
    for (;;) {
      await this.#pause(renewMs)
      if (this.#closing.signal.aborted) return
      await this.#announce().catch(ignoreTrouble)
      await this.#sure()?.catch(ignoreTrouble)
    }
  }

  async #claim(): Promise<void> {
    await this.#untilClosed(async () => {
      if (this.#running.size >= AT_ONCE) await this.#pause(RETRY_MS)
      else await this.#claimWithin(CLAIM_MS)
    })
  }

  async #claimWithin(timeoutMs: number): Promise<void> {
    const executed = new Map(this.#running)
    const known = [...executed.keys()]
    const limit = Math.max(1, AT_ONCE - known.length)
    this.#claims += 1
    try {
      const asked = { worker: this.#id, known, limit, timeoutMs }
      const { work, lost } = await this.#reeve.claimWork(asked, { signal: this.#closing.signal })
      for (const pid of lost) this.#lose(executed.get(pid))
      for (const { record, fence } of work) this.#begin(record, fence)
    } finally {
      this.#claims -= 1
      if (this.#claims === 0) this.#early.clear()
    }
  }

  #lose(attempt: Attempt | undefined): void {
    if (attempt === undefined || attempt.over) return
    this.#forget(attempt)
    attempt.stop(new Stopped('lease_lost', 'Another worker may have taken it over.'))
  }

  /** One stream of events serves all that is run here. */
  async #follow(from: number): Promise<void> {
    let after: number | undefined = from
    const filter = { kind: ['workflow' as const], status: 'any' as const }
    await this.#untilClosed(async () => {
      const position: number = after ?? (await this.#here())
      // Taken up anew, it may have missed some: they are in the log.
      if (after === undefined) await this.#catchUp()
      after = undefined
      const stream = this.#reeve.follow({ after: position, filter }, { signal: this.#closing.signal })
      for await (const event of stream) this.#heard(event)
    })
  }

  /** Events of what is run here may have been missed. */
  async #catchUp(): Promise<void> {
    for (const listeners of this.#listeners.values()) for (const listener of [...listeners]) listener(null)
    for (const attempt of [...this.#running.values()]) {
      const found = await this.#shown(attempt.record.pid)
      if (found === undefined || found.outcome !== null) this.#lose(attempt)
      if (found === undefined || attempt.over) continue
      const { status, stopRequest } = found
      attempt.request({ type: status === 'paused' ? 'pause' : 'resume' })
      if (stopRequest !== null && attempt.stopped === undefined) this.#stop(attempt, stopRequest)
    }
  }

  /** Undefined if it has ended so long ago that it is gone. */
  async #shown(pid: Pid): Promise<ProcessRecord | undefined> {
    try {
      return await this.#reeve.show({ pid })
    } catch (error) {
      if (error instanceof RefusedError) return undefined
      throw error
    }
  }

  async #here(): Promise<number> {
    return (await this.#announce()).position
  }

  #heard(event: StoredEvent): void {
    for (const listener of [...(this.#listeners.get(event.pid) ?? [])]) listener([event])
    const attempt = this.#running.get(event.pid)
    if (attempt !== undefined) this.#tell(attempt, event)
    // It may be among those that are being claimed.
    else if (this.#claims > 0 && ASKED.has(event.type))
      this.#early.set(event.pid, [...(this.#early.get(event.pid) ?? []), event])
  }

  #tell(attempt: Attempt, event: StoredEvent): void {
    if (event.type === 'paused') attempt.request({ type: 'pause' })
    if (event.type === 'resumed') attempt.request({ type: 'resume' })
    if (event.type === 'stop_requested') {
      const payload = event.payload as unknown as Omit<StopRequest, 'at'>
      this.#stop(attempt, { ...payload, at: event.at })
    }
  }

  #stop(attempt: Attempt, request: StopRequest): void {
    const { how, reason, source } = request
    attempt.stop(new Stopped(how, reason))
    attempt.request({ type: 'stop', how, reason, source })
    if (how === 'kill') return void this.#end(attempt, { status: 'cancelled' })
    const served = this.#functions.get(String(attempt.record.spec['workflow']))
    this.#graces.watch(attempt, request, served?.options.graceMs ?? GRACE_MS)
  }

  async #giveUpStop(attempt: Attempt): Promise<'done' | 'not_yet'> {
    const { pid } = attempt.record
    const no = await this.#insist(attempt, async () => {
      const { fence } = attempt.fence()
      await this.#reeve.doWork({ worker: this.#id, pid, fence, act: { type: 'give_up_stop' } })
    })
    if (no instanceof RefusedError && no.code === 'stopping') return 'not_yet'
    this.#forget(attempt)
    return 'done'
  }

  #begin(record: ProcessRecord, fence: number): void {
    const former = this.#running.get(record.pid)
    if (this.#closing.signal.aborted || (former !== undefined && former.fenceNumber >= fence)) return
    former?.stop(new Stopped('lease_lost', 'It was taken over, and came back.'))
    const attempt = new Attempt(record, this.#id, fence)
    this.#running.set(record.pid, attempt)
    for (const event of this.#early.get(record.pid) ?? []) this.#tell(attempt, event)
    if (record.stopRequest !== null) this.#stop(attempt, record.stopRequest)
    void this.#run(attempt)
  }

  async #run(attempt: Attempt): Promise<void> {
    const { record } = attempt
    const served = this.#functions.get(String(record.spec['workflow']))
    if (served === undefined) return
    const ledger = wireLedger(this.#reeve, attempt, systemClock, {
      onEvents: (listener) => this.#on(record.pid, listener),
      sure: () => this.#sure(),
    })
    const run = new Run(ledger, served.options)
    this.#runs.add(run)
    try {
      const ending = await run.run(served.run)
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
    } finally {
      this.#runs.delete(run)
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
    const { pid } = attempt.record
    const write = (said: Ending) =>
      this.#insist(attempt, async () => {
        const { fence } = attempt.fence()
        await this.#reeve.doWork({ worker: this.#id, pid, fence, act: { type: 'end', ...said } })
      })
    const no = await write(ending)
    // An end that cannot be written is a failure of its own.
    const still = no === undefined ? undefined : await write({ status: 'failed', reason: no.message })
    if (still === undefined) return this.#forget(attempt)
    // Forgotten, it would be claimed and run again and again.
    process.emitWarning(`The end of ${pid} was refused: ${still.message}`, { type: 'ReeveWarning' })
  }

  /** Until it is written, or is not ours to write any more. Answers with a no that has another reason. */
  async #insist(attempt: Attempt, act: () => Promise<void>): Promise<Error | undefined> {
    for (let delay = RETRY_MS; !attempt.over; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      try {
        await act()
        return undefined
      } catch (error) {
        if (!isTrouble(error)) return isOthers(error) ? undefined : (error as Error)
      }
      await this.#pause(delay, this.#closed.signal)
    }
    return undefined
  }

  #forget(attempt: Attempt): void {
    attempt.over = true
    this.#graces.forget(attempt)
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

  #pause(ms: number, signal = this.#closing.signal): Promise<void> {
    return pause(systemClock, ms, signal)
  }
}

type StopRequest = NonNullable<ProcessRecord['stopRequest']>
type Ending = Omit<Extract<InputOf<'doWork'>['act'], { type: 'end' }>, 'type'>

function thrown(attempt: Attempt, error: unknown): Ending {
  if (attempt.stopped !== undefined) return { status: 'cancelled' }
  const message = messageOf(error)
  const code = error instanceof RefusedError ? { code: error.code } : {}
  return { status: 'failed', reason: message, result: { error: message, ...code } satisfies Json }
}

/** It has ended, or is another's. */
function isOthers(error: unknown): boolean {
  return error instanceof RefusedError && (error.code === 'stale_fence' || error.code === 'already_ended')
}

function isLost(error: unknown): boolean {
  if (error instanceof Stopped) return error.why === 'lease_lost' || error.why === 'shutdown'
  return error instanceof RefusedError && error.code === 'stale_fence'
}

function ignoreTrouble(error: unknown): void {
  if (!(error instanceof ReeveError)) throw error
}
