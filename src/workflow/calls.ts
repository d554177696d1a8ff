import type { Clock } from '../core/clock.ts'
import type { StepKind } from '../core/process/event.ts'
import type { Value } from '../core/value/value.ts'
import type { Entry } from './journal.ts'
import { Nondeterminism, titleOf } from './nondeterminism.ts'
import { StepError } from './step-error.ts'

/** Code that was changed so that it waits for something new before it comes to what is on record is let on after this long. */
const STALL_MS = 2_000

/** Calls that a function may make after it was told to stop; then it is ended. */
const MAX_AFTER_STOP = 1_000

interface Pending {
  readonly name: string
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

export interface CallsOptions {
  readonly clock: Clock
  /** Time of the process when it is begun. */
  readonly time: number
  /** The code cannot go on. */
  readonly broken: (error: unknown) => void
  /** A call came out, and the code is told. */
  readonly settled: (place: number) => void
}

/**
 * The calls of one workflow's context: numbered as they are made, and told how they came out in the order of the log.
 * So code that has several under way comes to its next calls in the same order in every attempt.
 *
 * | a call is made          | and the log                      | then                                       |
 * | at a place              | has another kind or name there   | `Nondeterminism`                           |
 * | at a place              | says how it came out             | told, when all before it in the log are    |
 * | at a place              | says nothing, or only that it began | done now; told when it is in the log    |
 * | after a stop            |                                  | rejected                                   |
 *
 * After each of them the code runs until it waits again, and only then the next one is told.
 */
export class Calls {
  readonly #options: CallsOptions
  /** By place: what the log had when this attempt began. Forgotten once the code has come past it. */
  readonly #recorded = new Map<number, string>()
  #met: string[] = []
  #lastRecorded = 0
  #made = 0
  readonly #pending = new Map<number, Pending>()
  /** In the order of the log: not told yet. */
  #queue: (Entry | undefined)[] = []
  #head = 0
  readonly #queued = new Set<number>()
  #telling = false
  /** Calls that were made while nothing may be begun. */
  #held: (() => void)[] | undefined
  #afterStop = 0
  #stopped: { readonly reason: unknown } | undefined
  #isOver = false
  #cancelStall: (() => void) | undefined
  time: number

  constructor(options: CallsOptions) {
    this.#options = options
    this.time = options.time
  }

  /** What the log has at a place. */
  record(place: number, step: { readonly kind: StepKind; readonly name: string }): void {
    this.#recorded.set(place, titleOf(step))
    this.#lastRecorded = Math.max(this.#lastRecorded, place)
  }

  /** How many the code waits for. */
  get pending(): number {
    return this.#pending.size
  }

  /** Whether everything that the log has was told. */
  get isTold(): boolean {
    return this.#head === this.#queue.length
  }

  make(kind: StepKind, name: string, perform: (place: number) => Promise<void>): Promise<unknown> {
    if (this.#stopped !== undefined) return this.#rejected(this.#stopped.reason)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#isOver) return promise
    this.#made += 1
    const place = this.#made
    if (this.#differs(place, titleOf({ kind, name }))) return promise
    this.#pending.set(place, { name, resolve, reject })
    if (this.#queued.has(place)) void this.#tell()
    else {
      const begin = () => void perform(place).catch((error: unknown) => this.#options.broken(error))
      if (this.#held === undefined) begin()
      else this.#held.push(begin)
    }
    return promise
  }

  /** The function has returned: it must have come as far as the log. */
  returned(): void {
    if (this.#made >= this.#lastRecorded || this.#stopped !== undefined) return
    throw this.#changedAt(this.#made + 1)
  }

  /** The function has thrown: where the log goes on, that is no end of its own. */
  threw(error: unknown): void {
    if (this.#made >= this.#lastRecorded || this.#stopped !== undefined || this.#isOver) return
    throw this.#changedAt(this.#made + 1, error)
  }

  /** Heard from the log, in its order. */
  hear(entry: Entry): void {
    const known = entry.place <= this.#made && !this.#pending.has(entry.place)
    if (known || this.#queued.has(entry.place)) return
    this.#queue.push(entry)
    this.#queued.add(entry.place)
    void this.#tell()
  }

  /** Until it is known whether this attempt goes on, the code hears nothing, and begins nothing. */
  hold(): void {
    this.#held ??= []
  }

  goOn(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const begin of held) begin()
    void this.#tell()
  }

  /** Just written here. If it is all that the code waits for, it need not be heard first. */
  written(entry: Entry): void {
    if (this.isTold && this.#pending.size === 1 && this.#held === undefined) this.#settle(entry)
  }

  /** Everything that is under way is called off, and so is what comes. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason }
    this.#cancelStall?.()
    for (const { reject } of this.#pending.values()) reject(reason)
    this.#pending.clear()
  }

  /** The code is left where it is, and hears nothing more. */
  leave(): void {
    this.#isOver = true
    this.#cancelStall?.()
    this.#pending.clear()
  }

  #differs(place: number, title: string): boolean {
    if (place > this.#lastRecorded) return false
    this.#met.push(title)
    const recorded = this.#recorded.get(place) ?? title
    if (recorded !== title) {
      this.#options.broken(this.#changedAt(place))
      this.leave()
      return true
    }
    if (place < this.#lastRecorded) return false
    this.#recorded.clear()
    this.#met = []
    return false
  }

  #changedAt(place: number, thrown?: unknown): Nondeterminism {
    return new Nondeterminism(
      place,
      { recorded: this.#recorded, last: this.#lastRecorded, met: this.#met },
      thrown,
    )
  }

  /** Not at once: code that catches it, and calls again in a loop, would hold up the whole program. */
  #rejected(reason: unknown): Promise<never> {
    this.#afterStop += 1
    // It does not mean to end.
    if (this.#afterStop > MAX_AFTER_STOP) {
      this.#options.broken(reason)
      return new Promise(() => {})
    }
    return new Promise((_, reject) => void setImmediate(() => reject(reason)))
  }

  async #tell(): Promise<void> {
    if (this.#telling) return
    this.#telling = true
    for (;;) {
      const entry = this.#held === undefined ? this.#queue[this.#head] : undefined
      if (entry === undefined || entry.place > this.#made) break
      // The result is the code's now, to keep or to let go.
      this.#queue[this.#head] = undefined
      this.#head += 1
      this.#settle(entry)
      // The code goes on to its next calls before it hears of the others.
      if (this.#pending.size > 0) await nextTurn()
    }
    this.#telling = false
    if (this.isTold) {
      this.#queue = []
      this.#head = 0
    } else this.#watchForStall()
  }

  #settle(entry: Entry): void {
    const { place, name, at, result } = entry
    this.#queued.delete(place)
    const pending = this.#pending.get(place)
    if (pending === undefined) return
    this.#pending.delete(place)
    this.time = Math.max(this.time, at)
    this.#options.settled(place)
    if (result.type === 'value') pending.resolve(result.value)
    else pending.reject(new StepError(name, result.message, result.thrown))
  }

  /** The next one in the log is of a call that the code has not made; it may wait for one behind it. */
  #watchForStall(): void {
    const isWaited = (entry: Entry | undefined) => entry !== undefined && this.#pending.has(entry.place)
    if (this.#cancelStall !== undefined || this.#isOver || !this.#queue.slice(this.#head).some(isWaited))
      return
    this.#cancelStall = this.#options.clock.after(STALL_MS, () => {
      this.#cancelStall = undefined
      if (this.#held !== undefined) return
      const blocked = this.#queue[this.#head]
      const index = this.#queue.findIndex((entry, at) => at >= this.#head && isWaited(entry))
      const [waited] =
        blocked !== undefined && blocked.place > this.#made && index >= 0 ? this.#queue.splice(index, 1) : []
      if (waited !== undefined) this.#settle(waited)
      void this.#tell()
    })
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
