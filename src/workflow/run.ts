import { ReeveError, RefusedError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Ending, WaitRef } from '../core/process/intent.ts'
import { encode } from '../core/value/encode.ts'
import { unstorable } from '../core/value/stored-value.ts'
import type { Left, Parked } from '../kernel/executor.ts'
import type { WorkflowFunction, WorkflowOptions } from '../verbs/workflow-function.ts'
import { AttemptWriter, isTrouble } from './attempt-writer.ts'
import { CallPerformer, PARK_AFTER_MS } from './call-performer.ts'
import { Calls } from './calls.ts'
import { contextOf } from './context.ts'
import { insideStep } from './inside-step.ts'
import { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import { Nondeterminism } from './nondeterminism.ts'
import { isStop } from './stop.ts'
import { Waits } from './waits.ts'

export const GRACE_MS = 5_000

/** Inputs of the context besides the ledger. The same in every attempt, except for changed secrets. */
type ContextInputs = Parameters<typeof contextOf>[3]

/**
 * One attempt at one workflow process: reads the journal once, replays the function over it, and writes new events.
 *
 * | event                                           | pending calls | the attempt                       |
 * | the function returns or throws                  | –             | ends with its result or error     |
 * | a stop request                                  | rejected      | ends when the function does       |
 * | the lease is lost, or the program shuts down    | abandoned     | ends; writes nothing more         |
 * | only waits are pending for a while              | abandoned     | ends: parked                      |
 * | the store stays unavailable, or a stale fence   | abandoned     | ends: left                        |
 * | the code has changed                            | abandoned     | ends: failed, `nondeterminism`    |
 *
 * An abandoned call never settles. So the code that awaits it does not continue, and no `catch` or `finally` mistakes a restart
 * for a failure.
 */
export class Run {
  readonly #ledger: Ledger
  readonly #journal = new Journal()
  readonly #writer: AttemptWriter
  readonly #calls: Calls
  readonly #waits: Waits
  readonly #performer: CallPerformer
  readonly #over = Promise.withResolvers<Parked | Left>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #graceMs: number
  #lastSeq = 0
  #isOver = false
  readonly #cleanups: (() => void)[] = []

  constructor(ledger: Ledger, options: WorkflowOptions) {
    const { clock, record } = ledger
    const fail = (error: unknown) => this.#fail(error)
    // It may reject before `run` awaits it.
    this.#over.promise.catch(() => {})
    this.#ledger = ledger
    this.#graceMs = options.graceMs ?? GRACE_MS
    this.#writer = new AttemptWriter(ledger)
    this.#calls = new Calls({
      clock,
      time: record.firstStarted?.at ?? record.createdAt,
      fail,
      onMade: () => this.#waits.goOn(),
      onSettled: (stepIndex) => {
        this.#journal.forget(stepIndex)
        this.#waits.remove(stepIndex)
        this.#waits.goOn()
      },
    })
    this.#waits = new Waits({
      clock,
      parkAfterMs: options.parkAfterMs ?? PARK_AFTER_MS,
      mayPark: (waiting) => this.#calls.hasDeliveredAll && this.#calls.pending === waiting,
      park: (waits) => this.#park(waits),
      lendSlot: () => ledger.lendSlot(),
      onParked: () => {
        this.#close()
        this.#over.resolve({ status: 'parked' })
      },
      fail,
    })
    this.#performer = new CallPerformer({
      ...options,
      ledger,
      journal: this.#journal,
      calls: this.#calls,
      waits: this.#waits,
      writer: this.#writer,
      fail,
    })
  }

  async run(run: WorkflowFunction): Promise<Ending | Parked | Left> {
    const early: StoredEvent[] = []
    let listener = (events: readonly StoredEvent[]): void => void early.push(...events)
    this.#cleanups.push(
      this.#ledger.onEvents((events) => {
        if (events === null) this.#catchUp()
        else listener(events)
      }),
      this.#ledger.onRequest(({ type }) => {
        if (type === 'pause') this.#writer.pause()
        else this.#writer.resume()
      }),
    )
    try {
      await this.#readJournal()
      const seed = await this.#writer.retryUntilDone(() => this.#ledger.seed())
      const env = await this.#writer.retryUntilDone(() => this.#ledger.variables())
      listener = (events) => this.#receive(events)
      this.#receive(early)
      this.#listenForStop()
      return await Promise.race([this.#over.promise, this.#finishOrStop(run, { seed, env })])
    } catch (error) {
      if (error instanceof Nondeterminism)
        return { status: 'failed', reason: 'nondeterminism', result: error.report }
      throw error
    } finally {
      this.#ended.resolve()
      this.#close()
    }
  }

  /** Starts no further step. Resolves when the running steps are in the log, or after the grace period. */
  async drain(): Promise<void> {
    if (this.#ledger.signal.aborted) return
    this.#writer.drain()
    await this.#waitForSteps()
  }

  /** After a stop request, a running step still gets its result into the log before the process ends. */
  async #finishOrStop(run: WorkflowFunction, inputs: ContextInputs): Promise<Ending> {
    try {
      return await this.#finish(run, inputs)
    } finally {
      const { aborted, reason } = this.#ledger.signal
      if (aborted && isStop(reason) && reason.why !== 'kill') await this.#waitForSteps()
    }
  }

  async #waitForSteps(): Promise<void> {
    const graceOver = Promise.withResolvers<void>()
    const cancel = this.#ledger.clock.after(this.#graceMs, graceOver.resolve)
    await Promise.race([this.#performer.idle, this.#ended.promise, graceOver.promise])
    cancel()
  }

  async #finish(run: WorkflowFunction, inputs: ContextInputs): Promise<Ending> {
    const keyFor: Ledger['keyFor'] = (wait) => this.#writer.retryUntilDone(() => this.#ledger.keyFor(wait))
    const context = contextOf({ ...this.#ledger, keyFor }, this.#calls, this.#performer, inputs)
    const result = await this.#resultOf(() => run(context, context.input))
    this.#calls.checkReturn()
    const encoded = encode(result)
    if (encoded.type === 'encoded') return { status: 'completed', result: encoded.json }
    const { code, message } = unstorable("The function's result", encoded.why)
    return { status: 'failed', reason: message, result: { error: message, code } }
  }

  /** A function that was spawned inside another function's step does not run inside that step. */
  async #resultOf(run: () => unknown): Promise<unknown> {
    try {
      return (await insideStep.exit(run)) ?? null
    } catch (error) {
      this.#calls.checkThrow(error)
      throw error
    }
  }

  /** Reads the whole journal, page by page: once per attempt. */
  async #readJournal(): Promise<void> {
    for (;;) {
      const { events, isLast } = await this.#writer.retryUntilDone(() => this.#ledger.events(this.#lastSeq))
      for (const event of events) {
        this.#lastSeq = event.seq
        const entry = this.#journal.apply(event)
        if (entry === undefined) continue
        this.#journal.forget(entry.stepIndex)
        this.#calls.record(entry.stepIndex, entry)
        this.#calls.enqueue(entry)
      }
      if (isLast) break
    }
    for (const [stepIndex, call] of this.#journal.openCalls) this.#calls.record(stepIndex, call)
  }

  #receive(events: readonly StoredEvent[]): void {
    if (this.#isOver) return
    for (const event of events) {
      if (event.seq <= this.#lastSeq) continue
      this.#lastSeq = event.seq
      const entry = this.#journal.apply(event)
      if (entry !== undefined) this.#calls.enqueue(entry)
    }
  }

  /** Reads the events that may have been missed. */
  #catchUp(): void {
    const read = async () => {
      for (;;) {
        const { events, isLast } = await this.#writer.retryUntilDone(() => this.#ledger.events(this.#lastSeq))
        this.#receive(events)
        if (isLast) return
      }
    }
    read().catch((error: unknown) => this.#fail(error))
  }

  /** Once the process is parked, another attempt may get the awaited results: this one must not. */
  async #park(waits: readonly WaitRef[]): Promise<boolean> {
    this.#calls.hold()
    const isParked = await this.#writer.retryUntilDone(() => this.#ledger.park(waits))
    if (!isParked) this.#calls.release()
    return isParked
  }

  #listenForStop(): void {
    const { signal } = this.#ledger
    const stop = () => {
      const { reason } = signal
      this.#waits.close()
      if (isStop(reason)) this.#calls.stop(reason)
      else this.#fail(reason)
      this.#writer.close()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
    this.#cleanups.push(() => signal.removeEventListener('abort', stop))
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    const isStopping =
      this.#ledger.signal.aborted || (error instanceof RefusedError && error.code === 'stopping')
    // A stop request is on its way, and ends the function.
    if (isStopping && error instanceof ReeveError && !isStale(error)) return
    this.#close()
    if (isTrouble(error) || isStale(error)) this.#over.resolve({ status: 'left' })
    else this.#over.reject(error)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#calls.abandon()
    this.#waits.close()
    this.#writer.close()
    for (const cleanUp of this.#cleanups.splice(0)) cleanUp()
  }
}

function isStale(error: unknown): boolean {
  return error instanceof RefusedError && error.code === 'stale_fence'
}
