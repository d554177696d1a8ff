import type { Clock } from '../core/clock.ts'
import type { StepKind } from '../core/process/step-event.ts'
import type { Value } from '../core/value/value.ts'
import type { Entry } from './journal.ts'
import { Nondeterminism, titleOf } from './nondeterminism.ts'
import { StepError } from './step-error.ts'

/**
 * Changed code may wait for a new call before it makes the next recorded one. After this long it gets results out of the order
 * of the log.
 */
const STALL_MS = 2_000

/** Calls that a function may make after a stop request; then its attempt ends. */
const MAX_CALLS_AFTER_STOP = 1_000

interface Pending {
  readonly name: string
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

export interface CallsOptions {
  readonly clock: Clock
  /** The time of the process at its start: `now()` returns it until the first result. */
  readonly time: number
  /** Ends the attempt: the code cannot continue. */
  readonly fail: (error: unknown) => void
  /** Called when the code makes a call. */
  readonly onMade: () => void
  /** Called when a call gets its result. */
  readonly onSettled: (stepIndex: number) => void
}

/**
 * The calls of one workflow's context. Each gets the next `stepIndex`; results are delivered in the order of the
 * log. So code with concurrent calls makes its next calls in the same order in every attempt.
 *
 * | a call               | the log at its step index      | effect                                                |
 * | is made              | has another kind or name       | `Nondeterminism`                                      |
 * | is made              | has a result                   | settled, after all earlier results in the log         |
 * | is made              | is empty, or has only a start  | performed; settled when the result is in the log      |
 * | is made after a stop |                                | rejected                                              |
 *
 * After each result the code runs until it waits again; only then the next result is delivered.
 */
export class Calls {
  readonly #options: CallsOptions
  /** By step index: the calls that the log had when this attempt began. Cleared once the code has passed the last one. */
  readonly #recorded = new Map<number, string>()
  #met: string[] = []
  #lastRecorded = 0
  #callCount = 0
  readonly #pending = new Map<number, Pending>()
  /** Results to deliver, in the order of the log. */
  #queue: (Entry | undefined)[] = []
  #head = 0
  readonly #queued = new Set<number>()
  #isDelivering = false
  /** Calls made during a hold. */
  #held: (() => void)[] | undefined
  #callsAfterStop = 0
  #stopped: { readonly reason: unknown } | undefined
  #isAbandoned = false
  #cancelStallTimer: (() => void) | undefined
  time: number

  constructor(options: CallsOptions) {
    this.#options = options
    this.time = options.time
  }

  /** Notes the call that the log has at a step index. */
  record(stepIndex: number, step: { readonly kind: StepKind; readonly name: string }): void {
    this.#recorded.set(stepIndex, titleOf(step))
    this.#lastRecorded = Math.max(this.#lastRecorded, stepIndex)
  }

  /** The number of calls without a result. */
  get pending(): number {
    return this.#pending.size
  }

  /** Whether every result in the log has been delivered. */
  get hasDeliveredAll(): boolean {
    return this.#head === this.#queue.length
  }

  make(kind: StepKind, name: string, perform: (stepIndex: number) => Promise<void>): Promise<unknown> {
    if (this.#stopped !== undefined) return this.#rejectLater(this.#stopped.reason)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#isAbandoned) return promise
    this.#callCount += 1
    const stepIndex = this.#callCount
    if (this.#differs(stepIndex, titleOf({ kind, name }))) return promise
    this.#pending.set(stepIndex, { name, resolve, reject })
    this.#options.onMade()
    if (this.#queued.has(stepIndex)) void this.#deliver()
    else {
      const begin = () => void perform(stepIndex).catch((error: unknown) => this.#options.fail(error))
      if (this.#held === undefined) begin()
      else this.#held.push(begin)
    }
    return promise
  }

  /** Called when the function has returned. It must have made all recorded calls. */
  checkReturn(): void {
    if (this.#callCount >= this.#lastRecorded || this.#stopped !== undefined) return
    throw this.#nondeterminismAt(this.#callCount + 1)
  }

  /** Called when the function has thrown. If the log has further calls, the code has changed. */
  checkThrow(error: unknown): void {
    if (this.#callCount >= this.#lastRecorded || this.#stopped !== undefined || this.#isAbandoned) return
    throw this.#nondeterminismAt(this.#callCount + 1, error)
  }

  /** Takes a result from the log, in its order. */
  enqueue(entry: Entry): void {
    const isSettled = entry.stepIndex <= this.#callCount && !this.#pending.has(entry.stepIndex)
    if (isSettled || this.#queued.has(entry.stepIndex)) return
    this.#queue.push(entry)
    this.#queued.add(entry.stepIndex)
    void this.#deliver()
  }

  /** Until `release`, delivers no result and performs no call: it is not known whether this attempt continues. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const begin of held) begin()
    void this.#deliver()
  }

  /** Settles a call that this attempt has just written, without the log's echo, if it is the only one pending. */
  settleWritten(entry: Entry): void {
    if (this.hasDeliveredAll && this.#pending.size === 1 && this.#held === undefined) this.#settle(entry)
  }

  /** Rejects all pending and future calls. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason }
    this.#cancelStallTimer?.()
    for (const { reject } of this.#pending.values()) reject(reason)
    this.#pending.clear()
  }

  /** Never settles the pending calls: the code does not continue. */
  abandon(): void {
    this.#isAbandoned = true
    this.#cancelStallTimer?.()
    this.#pending.clear()
  }

  #differs(stepIndex: number, title: string): boolean {
    if (stepIndex > this.#lastRecorded) return false
    this.#met.push(title)
    const recorded = this.#recorded.get(stepIndex) ?? title
    if (recorded !== title) {
      this.#options.fail(this.#nondeterminismAt(stepIndex))
      this.abandon()
      return true
    }
    if (stepIndex < this.#lastRecorded) return false
    this.#recorded.clear()
    this.#met = []
    return false
  }

  #nondeterminismAt(stepIndex: number, thrown?: unknown): Nondeterminism {
    return new Nondeterminism(
      stepIndex,
      { recorded: this.#recorded, last: this.#lastRecorded, met: this.#met },
      thrown,
    )
  }

  /** Rejects in a later turn: code that catches the error and calls again in a loop must not block the program. */
  #rejectLater(reason: unknown): Promise<never> {
    this.#callsAfterStop += 1
    // The function ignores the stop.
    if (this.#callsAfterStop > MAX_CALLS_AFTER_STOP) {
      this.#options.fail(reason)
      return new Promise(() => {})
    }
    return new Promise((_, reject) => void setImmediate(() => reject(reason)))
  }

  async #deliver(): Promise<void> {
    if (this.#isDelivering) return
    this.#isDelivering = true
    for (;;) {
      const entry = this.#held === undefined ? this.#queue[this.#head] : undefined
      if (entry === undefined || entry.stepIndex > this.#callCount) break
      // Drop the reference: the code owns the result now.
      this.#queue[this.#head] = undefined
      this.#head += 1
      this.#settle(entry)
      // Let the code make its next calls before it gets another result.
      if (this.#pending.size > 0) await nextTurn()
    }
    this.#isDelivering = false
    if (this.hasDeliveredAll) {
      this.#queue = []
      this.#head = 0
    } else this.#watchForStall()
  }

  #settle(entry: Entry): void {
    const { stepIndex, name, at, result } = entry
    this.#queued.delete(stepIndex)
    const pending = this.#pending.get(stepIndex)
    if (pending === undefined) return
    this.#pending.delete(stepIndex)
    this.time = Math.max(this.time, at)
    this.#options.onSettled(stepIndex)
    if (result.type === 'value') pending.resolve(result.value)
    else pending.reject(new StepError(name, result.message, result.thrown))
  }

  /** The next result belongs to a call that the code has not made yet. The code may be waiting for a later result. */
  #watchForStall(): void {
    const isPending = (entry: Entry | undefined) => entry !== undefined && this.#pending.has(entry.stepIndex)
    if (
      this.#cancelStallTimer !== undefined ||
      this.#isAbandoned ||
      !this.#queue.slice(this.#head).some(isPending)
    )
      return
    this.#cancelStallTimer = this.#options.clock.after(STALL_MS, () => {
      this.#cancelStallTimer = undefined
      if (this.#held !== undefined) return
      const blocked = this.#queue[this.#head]
      const index = this.#queue.findIndex((entry, at) => at >= this.#head && isPending(entry))
      const [waited] =
        blocked !== undefined && blocked.stepIndex > this.#callCount && index >= 0
          ? this.#queue.splice(index, 1)
          : []
      if (waited !== undefined) this.#settle(waited)
      void this.#deliver()
    })
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
