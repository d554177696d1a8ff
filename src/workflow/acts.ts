import { AsyncLocalStorage } from 'node:async_hooks'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import type { StepEnded, StepKind, StoredEvent } from '../core/process/event.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { WaitOn } from '../core/process/record.ts'
import { encodeThrown, messageOf } from '../core/value/thrown.ts'
import type {
  ChildToRegister,
  RetryPolicy,
  StepInfo,
  StepOptions,
  WorkflowOptions,
} from '../verbs/durable-function.ts'
import type { Calls } from './calls.ts'
import { BACKOFF, type Journal, stepEntry } from './journal.ts'
import type { Ledger, Written } from './ledger.ts'
import { backoffAfter } from './retry.ts'
import { failedWith, isTooLarge, resultToStore } from './step-result.ts'
import { isStop } from './stop.ts'
import type { Waits } from './waits.ts'
import { isFinal, type Writing } from './writing.ts'

export interface ActsOptions extends WorkflowOptions {
  readonly ledger: Ledger
  readonly journal: Journal
  readonly calls: Calls
  readonly waits: Waits
  readonly writing: Writing
  /** The code cannot go on. */
  readonly broken: (error: unknown) => void
}

export const PARK_AFTER_MS = 5_000

/** The step that the code runs in, if it does: there it must not call its context, but to charge. */
export const insideStep: AsyncLocalStorage<{
  readonly name: string
  /** The same when this try is begun again. */
  readonly key: string
  charges: number
}> = new AsyncLocalStorage()

/** What a call of the context does when the log does not say how it came out. Each ends with a word in the log. */
export class Acts {
  readonly #options: ActsOptions
  /** How many are being run. */
  #steps = 0
  readonly #whenIdle: (() => void)[] = []

  constructor(options: ActsOptions) {
    this.#options = options
  }

  /** Tried as often as the policy says; tries before a restart count. */
  async step(
    place: number,
    name: string,
    run: (step: StepInfo) => unknown,
    { retry = this.#options.retry }: StepOptions,
  ): Promise<void> {
    const { ledger, journal, writing } = this.#options
    const { clock } = ledger
    const { tries: before = 0, retryAt: first = 0 } = journal.begun(place) ?? {}
    let retryAt = first
    for (let tries = before + 1; ; tries += 1) {
      if (retryAt > clock.now() || journal.isBackingOff(place)) await this.#backOff(place, tries - 1, retryAt)
      await writing.resumed
      const doubt = writing.certain
      if (doubt !== undefined) {
        await doubt
        await writing.resumed
      }
      if (writing.isOver) return
      this.#steps += 1
      try {
        const again = await this.#tryAndWrite(place, name, tries, run, retry)
        if (again === undefined) return
        retryAt = again
      } finally {
        this.#steps -= 1
        if (this.#steps === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
      }
    }
  }

  /** Answers with when it is to be tried again, if it is. */
  async #tryAndWrite(
    place: number,
    name: string,
    tries: number,
    run: (step: StepInfo) => unknown,
    retry: RetryPolicy | undefined,
  ): Promise<number | undefined> {
    const { ledger, writing } = this.#options
    const { clock } = ledger
    const step = { place, kind: 'step', name, began: clock.now(), tries } as const
    const tried = await this.#try(step, run)
    // Outside of what is retried: the step has done its work, and a result that cannot be stored changes nothing about that.
    if (tried.type === 'done') return this.#unlessLeft({ ...step, ...resultToStore(name, tried.value) })
    if (writing.isOver) return undefined
    const backoff = backoffAfter(tries, tried.error, retry)
    const error = messageOf(tried.error)
    if (backoff === undefined)
      return this.#end({ ...step, how: 'failed', error, thrown: encodeThrown(tried.error) })
    const retryAt = clock.now() + backoff
    await writing.write({ type: 'retry_step', step: { place, kind: 'step', name, tries, error, retryAt } })
    return retryAt
  }

  /** A long one is a wait in the log, without a place of its own: so it may be waited for out of memory. */
  async #backOff(place: number, tries: number, until: number): Promise<void> {
    const { ledger, journal, waits, writing } = this.#options
    const wait = { on: 'timer', name: `${BACKOFF}${place}`, ordinal: tries } as const
    const isLong = until - ledger.clock.now() > (this.#options.parkAfterMs ?? PARK_AFTER_MS)
    if (!isLong && !journal.isBackingOff(place)) return writing.until(until)
    await writing.resumed
    if (writing.isOver) return
    try {
      await writing.write({ type: 'enter_wait', wait, until })
    } catch (error) {
      // It waits for too much already: then in memory.
      if (!(error instanceof RefusedError) || error.code !== 'conflict') throw error
      return writing.until(until)
    }
    waits.add(place, wait, until, () => {})
    await writing.until(until)
    if (writing.isOver) return
    waits.remove(place)
    await writing.write({ type: 'leave_wait', wait, how: 'due', value: null })
  }

  /** When no step is being run. */
  get idle(): Promise<void> {
    if (this.#steps === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#whenIdle.push(resolve))
  }

  /** For a signal, a time or a child. What ends it is heard from the log. */
  async wait(place: number, ref: WaitRef, timeoutMs: number | null): Promise<void> {
    const { ledger, journal, waits, writing, broken } = this.#options
    await writing.resumed
    if (writing.isOver) return
    const entered = journal.begun(place)
    const began = ledger.clock.now()
    if (ref.on === 'child' && entered === undefined) {
      const ended = await this.#unlessRefused(place, 'wait', ref.name, () =>
        writing.insist(() => ledger.endedAs(ref.name)),
      )
      if (ended === REFUSED) return
      if (ended !== null) return this.#came(place, ref, began, ended as unknown as Json)
    }
    const until = entered?.until ?? (timeoutMs === null ? null : began + timeoutMs)
    const written = await this.#entered(place, ref, until)
    if (written === REFUSED) return
    if (written.type === 'replayed') return this.#answeredBefore(place, ref, began, written.event)
    waits.add(place, ref, until, () => this.#leave(ref, ref.on === 'timer' ? 'due' : 'timed_out', null))
    if (ref.on !== 'child') return
    const ended = writing.insist(() => ledger.outcomeOf(ref.name, writing.over))
    ended.then(
      (outcome) => this.#leave(ref, 'ended', outcome as unknown as Json),
      (error: unknown) => writing.isOver || broken(error),
    )
  }

  /** The child and its place in the log are written together. */
  async spawn(place: number, request: ChildToRegister): Promise<void> {
    const { ledger, writing } = this.#options
    await writing.resumed
    if (writing.isOver) return
    await this.#unlessRefused(place, 'spawn', request.kind, () =>
      writing.insist(() => ledger.spawn(request, place)),
    )
  }

  /** What was done is written down, also when a stop was asked for meanwhile; not when another attempt may do it again. */
  #unlessLeft(step: StepEnded): Promise<undefined> {
    const { signal } = this.#options.ledger
    const isLeft = signal.aborted ? !isStop(signal.reason) : this.#options.writing.isOver
    return isLeft ? Promise.resolve(undefined) : this.#end(step)
  }

  async #try(
    { place, name, tries }: { readonly place: number; readonly name: string; readonly tries: number },
    run: (step: StepInfo) => unknown,
  ): Promise<Tried> {
    const { record, signal } = this.#options.ledger
    try {
      const info = { attempt: tries, abortSignal: signal, key: `${record.pid}:${place}` }
      const inside = { name, key: `${place}:${tries}`, charges: 0 }
      return { type: 'done', value: await insideStep.run(inside, () => run(info)) }
    } catch (error) {
      return { type: 'failed', error }
    }
  }

  async #end(step: StepEnded): Promise<undefined> {
    const { calls, writing } = this.#options
    try {
      const written = await writing.write({ type: 'end_step', step })
      if (written.type === 'appended') calls.written(stepEntry(step, written.at))
    } catch (error) {
      if (!isTooLarge(error) || step.how === 'failed') throw error
      const { place, kind, name, began, tries } = step
      await this.#end({ place, kind, name, began, tries, ...failedWith(name, error) })
    }
  }

  /** One that waits for too much already is told so at this call, and goes on with the others. */
  async #entered(place: number, ref: WaitRef, until: number | null): Promise<Written | typeof REFUSED> {
    const { ledger, writing } = this.#options
    try {
      return await writing.write({ type: 'enter_wait', wait: ref, until })
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'conflict') throw error
      const { on, name } = ref
      const began = ledger.clock.now()
      await this.#end({ place, kind: kindOf(on), name, began, tries: 1, how: 'failed', error: error.message })
      return REFUSED
    }
  }

  #came(place: number, { on, name }: WaitRef, began: number, value: Json): Promise<void> {
    return this.#end({ place, kind: kindOf(on), name, began, tries: 1, how: 'done', value })
  }

  /** A no is how the call came out, in later attempts too. */
  async #unlessRefused<Answer>(
    place: number,
    kind: StepKind,
    name: string,
    act: () => Promise<Answer>,
  ): Promise<Answer | typeof REFUSED> {
    const began = this.#options.ledger.clock.now()
    try {
      return await act()
    } catch (error) {
      if (!isFinal(error) || error.code === 'stale_fence') throw error
      await this.#end({ place, kind, name, began, tries: 1, how: 'failed', error: error.message })
      return REFUSED
    }
  }

  /** Through its key, before it was waited for: that answer names no place, so it is written down at this one. */
  async #answeredBefore(place: number, ref: WaitRef, began: number, event: StoredEvent): Promise<void> {
    const left = event.payload as { readonly place?: number; readonly value: Json }
    if (left.place === undefined) await this.#came(place, ref, began, left.value)
  }

  #leave(wait: WaitRef, how: 'due' | 'timed_out' | 'ended', value: Json): void {
    const { writing, broken } = this.#options
    if (writing.isOver) return
    writing.write({ type: 'leave_wait', wait, how, value }).catch((error: unknown) => {
      // Whoever was faster is in the log.
      const isLeft = error instanceof RefusedError && error.code === 'not_waiting'
      if (!isLeft && !writing.isOver) broken(error)
    })
  }
}

const REFUSED = Symbol('refused')

type Tried =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: unknown }

function kindOf(on: WaitOn): StepKind {
  return on === 'timer' ? 'sleep' : on === 'child' ? 'wait' : 'signal'
}
