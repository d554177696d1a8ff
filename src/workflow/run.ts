import { ReeveError, RefusedError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Ending, WaitRef } from '../core/process/intent.ts'
import { encode } from '../core/value/encode.ts'
import { unstorable } from '../core/value/stored-value.ts'
import type { Left, Parked } from '../kernel/executor.ts'
import type { WorkflowFunction, WorkflowOptions } from '../verbs/durable-function.ts'
import { Acts, insideStep, PARK_AFTER_MS } from './acts.ts'
import { Calls } from './calls.ts'
import { contextOf } from './context.ts'
import { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import { Nondeterminism } from './nondeterminism.ts'
import { isStop } from './stop.ts'
import { Waits } from './waits.ts'
import { isTrouble, Writing } from './writing.ts'

export const GRACE_MS = 5_000

/** What the code is given beside its record: the same in every attempt, but for secrets that were changed. */
type Given = Parameters<typeof contextOf>[3]

/**
 * One attempt at one workflow process: reads its journal once, runs the function over it, and writes what is new.
 *
 * | what happens                    | the calls under way  | and the attempt                      |
 * | the function returns or throws  | –                    | ends with it                         |
 * | a stop is asked for             | rejected             | ends when the function does          |
 * | the lease is lost, a shutdown   | left as they are     | is over; nothing more is written     |
 * | nothing but waits for a while   | left as they are     | is over: parked                      |
 * | trouble that lasts, or the lease was lost unawares | left as they are | is over: left      |
 * | the code has changed            | left as they are     | failed: `nondeterminism`             |
 *
 * Left as they are: the code that waits for them never goes on, so that no `catch` or `finally` takes a restart for a
 * failure.
 */
export class Run {
  readonly #ledger: Ledger
  readonly #journal = new Journal()
  readonly #writing: Writing
  readonly #calls: Calls
  readonly #waits: Waits
  readonly #acts: Acts
  readonly #over = Promise.withResolvers<Parked | Left>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #graceMs: number
  #lastSeq = 0
  #isOver = false
  readonly #undo: (() => void)[] = []

  constructor(ledger: Ledger, options: WorkflowOptions) {
    const { clock, record } = ledger
    const broken = (error: unknown) => this.#break(error)
    // It may be over before anybody asks.
    this.#over.promise.catch(() => {})
    this.#ledger = ledger
    this.#graceMs = options.graceMs ?? GRACE_MS
    this.#writing = new Writing(ledger)
    this.#calls = new Calls({
      clock,
      time: record.firstStarted?.at ?? record.createdAt,
      broken,
      settled: (place) => {
        this.#journal.forget(place)
        this.#waits.remove(place)
      },
    })
    this.#waits = new Waits({
      clock,
      parkAfterMs: options.parkAfterMs ?? PARK_AFTER_MS,
      mayPark: (waiting) => this.#calls.isTold && this.#calls.pending === waiting,
      park: (waits) => this.#park(waits),
      parked: () => {
        this.#leave()
        this.#over.resolve({ status: 'parked' })
      },
      failed: broken,
    })
    this.#acts = new Acts({
      ...options,
      ...{ ledger, broken, journal: this.#journal, calls: this.#calls },
      ...{ waits: this.#waits, writing: this.#writing },
    })
  }

  async run(run: WorkflowFunction): Promise<Ending | Parked | Left> {
    const early: StoredEvent[] = []
    let listener = (events: readonly StoredEvent[]): void => void early.push(...events)
    this.#undo.push(
      this.#ledger.onEvents((events) => {
        if (events === null) this.#catchUp()
        else listener(events)
      }),
      this.#ledger.onRequest(({ type }) => {
        if (type === 'pause') this.#writing.pause()
        else this.#writing.resume()
      }),
    )
    try {
      await this.#read()
      const seed = await this.#writing.insist(() => this.#ledger.seed())
      const env = await this.#writing.insist(() => this.#ledger.variables())
      listener = (events) => this.#heard(events)
      this.#heard(early)
      this.#listenForStop()
      return await Promise.race([this.#over.promise, this.#finishOrStop(run, { seed, env })])
    } catch (error) {
      if (error instanceof Nondeterminism)
        return { status: 'failed', reason: 'nondeterminism', result: error.report }
      throw error
    } finally {
      this.#ended.resolve()
      this.#leave()
    }
  }

  /** Begins nothing more; when the steps that are under way are in the log, or their time is up. */
  async drain(): Promise<void> {
    if (this.#ledger.signal.aborted) return
    this.#writing.drain()
    await this.#stepsOver()
  }

  /** What a step does that was told to stop, it has done: that is written down before the process ends. */
  async #finishOrStop(run: WorkflowFunction, given: Given): Promise<Ending> {
    try {
      return await this.#finish(run, given)
    } finally {
      const { aborted, reason } = this.#ledger.signal
      if (aborted && isStop(reason) && reason.why !== 'kill') await this.#stepsOver()
    }
  }

  async #stepsOver(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#ledger.clock.after(this.#graceMs, late.resolve)
    await Promise.race([this.#acts.idle, this.#ended.promise, late.promise])
    cancel()
  }

  async #finish(run: WorkflowFunction, given: Given): Promise<Ending> {
    const keyFor: Ledger['keyFor'] = (wait) => this.#writing.insist(() => this.#ledger.keyFor(wait))
    const context = contextOf({ ...this.#ledger, keyFor }, this.#calls, this.#acts, given)
    const result = await this.#resultOf(() => run(context, context.input))
    this.#calls.returned()
    const encoded = encode(result)
    if (encoded.type === 'encoded') return { status: 'completed', result: encoded.json }
    const { code, message } = unstorable("The function's result", encoded.why)
    return { status: 'failed', reason: message, result: { error: message, code } }
  }

  /** Spawned inside a step of another function, it is not inside that step. */
  async #resultOf(run: () => unknown): Promise<unknown> {
    try {
      return (await insideStep.exit(run)) ?? null
    } catch (error) {
      this.#calls.threw(error)
      throw error
    }
  }

  /** The whole journal, page by page: once per attempt. */
  async #read(): Promise<void> {
    for (;;) {
      const { events, isLast } = await this.#writing.insist(() => this.#ledger.events(this.#lastSeq))
      for (const event of events) {
        this.#lastSeq = event.seq
        const entry = this.#journal.see(event)
        if (entry === undefined) continue
        this.#journal.forget(entry.place)
        this.#calls.record(entry.place, entry)
        this.#calls.hear(entry)
      }
      if (isLast) break
    }
    for (const [place, begun] of this.#journal.open) this.#calls.record(place, begun)
  }

  #heard(events: readonly StoredEvent[]): void {
    if (this.#isOver) return
    for (const event of events) {
      if (event.seq <= this.#lastSeq) continue
      this.#lastSeq = event.seq
      const entry = this.#journal.see(event)
      if (entry !== undefined) this.#calls.hear(entry)
    }
  }

  /** Some events may have been missed: they are in the log. */
  #catchUp(): void {
    const read = async () => {
      for (;;) {
        const { events, isLast } = await this.#writing.insist(() => this.#ledger.events(this.#lastSeq))
        this.#heard(events)
        if (isLast) return
      }
    }
    read().catch((error: unknown) => this.#break(error))
  }

  /** Once it is parked, another attempt may hear what it waited for: this one must not. */
  async #park(waits: readonly WaitRef[]): Promise<boolean> {
    this.#calls.hold()
    const isParked = await this.#writing.insist(() => this.#ledger.park(waits))
    if (!isParked) this.#calls.goOn()
    return isParked
  }

  #listenForStop(): void {
    const { signal } = this.#ledger
    const stop = () => {
      const { reason } = signal
      this.#waits.close()
      if (isStop(reason)) this.#calls.stop(reason)
      else this.#break(reason)
      this.#writing.close()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
    this.#undo.push(() => signal.removeEventListener('abort', stop))
  }

  #break(error: unknown): void {
    if (this.#isOver) return
    const isStopping =
      this.#ledger.signal.aborted || (error instanceof RefusedError && error.code === 'stopping')
    // A stop is on its way: the function ends by itself when it hears of it.
    if (isStopping && error instanceof ReeveError && !isStale(error)) return
    this.#leave()
    if (isTrouble(error) || isStale(error)) this.#over.resolve({ status: 'left' })
    else this.#over.reject(error)
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#calls.leave()
    this.#waits.close()
    this.#writing.close()
    for (const undo of this.#undo.splice(0)) undo()
  }
}

function isStale(error: unknown): boolean {
  return error instanceof RefusedError && error.code === 'stale_fence'
}
