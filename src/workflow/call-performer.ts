import { RefusedError } from '../core/errors.ts'
import { asJson, type Json } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { StepEnded, StepKind } from '../core/process/step-event.ts'
import type { WaitOn } from '../core/process/wait.ts'
import { encodeThrown, messageOf } from '../core/value/thrown.ts'
import type {
  ChildToRegister,
  RetryPolicy,
  StepInfo,
  StepOptions,
  WorkflowOptions,
} from '../verbs/workflow-function.ts'
import { type AttemptWriter, isFinal } from './attempt-writer.ts'
import type { Calls } from './calls.ts'
import { insideStep } from './inside-step.ts'
import { BACKOFF_PREFIX, type Journal, stepEntry } from './journal.ts'
import type { Ledger, Outgoing, Written } from './ledger.ts'
import { backoffAfter } from './retry.ts'
import { failedAsTooLarge, isTooLarge, resultToStore } from './step-result.ts'
import { isStop } from './stop.ts'
import type { Waits } from './waits.ts'

export interface CallPerformerOptions extends WorkflowOptions {
  readonly ledger: Ledger
  readonly journal: Journal
  readonly calls: Calls
  readonly waits: Waits
  readonly writer: AttemptWriter
  /** Ends the attempt: the code cannot continue. */
  readonly fail: (error: unknown) => void
}

export const PARK_AFTER_MS = 5_000

/** Performs the context calls that have no result in the log yet. Each of them ends with an event in the log. */
export class CallPerformer {
  readonly #options: CallPerformerOptions
  #runningSteps = 0
  readonly #whenIdle: (() => void)[] = []

  constructor(options: CallPerformerOptions) {
    this.#options = options
  }

  /** Runs a step as often as its retry policy allows. Tries before a restart count. */
  async step(
    stepIndex: number,
    name: string,
    run: (step: StepInfo) => unknown,
    { retry = this.#options.retry }: StepOptions,
  ): Promise<void> {
    const { ledger, journal, writer } = this.#options
    const { clock } = ledger
    const { tries: earlierTries = 0, retryAt: loggedRetryAt = 0 } = journal.openCall(stepIndex) ?? {}
    let retryAt = loggedRetryAt
    for (let tries = earlierTries + 1; ; tries += 1) {
      if (retryAt > clock.now() || journal.isBackingOff(stepIndex))
        await this.#backOff(stepIndex, tries - 1, retryAt)
      await writer.resumed
      const confirmed = writer.leaseConfirmed
      if (confirmed !== undefined) {
        await confirmed
        await writer.resumed
      }
      if (writer.isOver) return
      this.#runningSteps += 1
      try {
        const nextTryAt = await this.#tryAndWrite(stepIndex, name, tries, run, retry)
        if (nextTryAt === undefined) return
        retryAt = nextTryAt
      } finally {
        this.#runningSteps -= 1
        if (this.#runningSteps === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
      }
    }
  }

  /** Returns the time of the next try; undefined if there is none. */
  async #tryAndWrite(
    stepIndex: number,
    name: string,
    tries: number,
    run: (step: StepInfo) => unknown,
    retry: RetryPolicy | undefined,
  ): Promise<number | undefined> {
    const { ledger, writer } = this.#options
    const { clock } = ledger
    const step = { stepIndex, kind: 'step', name, began: clock.now(), tries } as const
    const tried = await this.#try(step, run)
    // Not retried: the step has done its work, even if its result cannot be stored.
    if (tried.type === 'done')
      return this.#endUnlessHandedOver({ ...step, ...resultToStore(name, tried.value) })
    if (writer.isOver) return undefined
    const backoff = backoffAfter(tries, tried.error, retry)
    const error = messageOf(tried.error)
    if (backoff === undefined)
      return this.#end({ ...step, how: 'failed', error, thrown: encodeThrown(tried.error) })
    const retryAt = clock.now() + backoff
    await writer.write({ type: 'retry_step', step: { stepIndex, kind: 'step', name, tries, error, retryAt } })
    return retryAt
  }

  /** A long backoff is a wait in the log, without a step index of its own, so that the process can be parked meanwhile. */
  async #backOff(stepIndex: number, tries: number, until: number): Promise<void> {
    const { ledger, journal, waits, writer } = this.#options
    const wait = { on: 'timer', name: `${BACKOFF_PREFIX}${stepIndex}`, ordinal: tries } as const
    const isLong = until - ledger.clock.now() > (this.#options.parkAfterMs ?? PARK_AFTER_MS)
    if (!isLong && !journal.isBackingOff(stepIndex)) return writer.until(until)
    await writer.resumed
    if (writer.isOver) return
    try {
      await writer.write({ type: 'enter_wait', wait, until })
    } catch (error) {
      // The process has as many waits as it may have: back off in memory.
      if (!(error instanceof RefusedError) || error.code !== 'conflict') throw error
      return writer.until(until)
    }
    waits.add(stepIndex, wait, until, () => {})
    await writer.until(until)
    if (writer.isOver) return
    waits.remove(stepIndex)
    await writer.write({ type: 'leave_wait', wait, how: 'due', value: null })
  }

  /** Resolves when no step is running. */
  get idle(): Promise<void> {
    if (this.#runningSteps === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#whenIdle.push(resolve))
  }

  /** Waits for a signal, a message, a timer or a child. The event that ends the wait comes from the log. */
  async wait(stepIndex: number, ref: WaitRef, timeoutMs: number | null): Promise<void> {
    const { ledger, journal, waits, writer, fail } = this.#options
    await writer.resumed
    if (writer.isOver) return
    const entered = journal.openCall(stepIndex)
    const began = ledger.clock.now()
    if (ref.on === 'child' && entered === undefined) {
      const ended = await this.#unlessRefused(stepIndex, 'wait', ref.name, () =>
        writer.retryUntilDone(() => ledger.findOutcome(ref.name)),
      )
      if (ended === REFUSED) return
      if (ended !== null) return this.#endWait(stepIndex, ref, began, asJson(ended))
    }
    const until = entered?.until ?? (timeoutMs === null ? null : began + timeoutMs)
    const written = await this.#enterWait(stepIndex, ref, until)
    if (written === REFUSED) return
    if (written.type === 'replayed') return this.#endIfAnswered(stepIndex, ref, began, written.event)
    waits.add(stepIndex, ref, until, () =>
      this.#leaveWait(ref, ref.on === 'timer' ? 'due' : 'timed_out', null),
    )
    if (ref.on !== 'child') return
    const ended = writer.retryUntilDone(() => ledger.waitForOutcome(ref.name, writer.over))
    ended.then(
      (outcome) => this.#leaveWait(ref, 'ended', asJson(outcome)),
      (error: unknown) => writer.isOver || fail(error),
    )
  }

  /** One write registers the child and records the step index. */
  async spawn(stepIndex: number, request: ChildToRegister): Promise<void> {
    const { ledger, writer } = this.#options
    await writer.resumed
    if (writer.isOver) return
    await this.#unlessRefused(stepIndex, 'spawn', request.kind, () =>
      writer.retryUntilDone(() => ledger.spawn(request, stepIndex)),
    )
  }

  /** Sends a message once: its key is the same in every attempt. */
  async sendMessage(stepIndex: number, sending: Outgoing): Promise<void> {
    const { ledger, writer } = this.#options
    await writer.resumed
    if (writer.isOver) return
    const step = {
      stepIndex,
      kind: 'step',
      name: 'sendMessage',
      began: ledger.clock.now(),
      tries: 1,
    } as const
    try {
      const key = `step:${stepIndex}`
      await writer.retryUntilDone(() => ledger.sendMessage({ ...sending, key }))
    } catch (error) {
      if (!isFinal(error) || error.code === 'stale_fence') throw error
      const { message } = error
      return this.#end({ ...step, how: 'failed', error: message, thrown: encodeThrown(error) })
    }
    await this.#end({ ...step, how: 'done' })
  }

  /** Records a finished step, even after a stop request; not when another attempt may run it again. */
  #endUnlessHandedOver(step: StepEnded): Promise<undefined> {
    const { signal } = this.#options.ledger
    const isHandedOver = signal.aborted ? !isStop(signal.reason) : this.#options.writer.isOver
    return isHandedOver ? Promise.resolve(undefined) : this.#end(step)
  }

  async #try(
    { stepIndex, name, tries }: { readonly stepIndex: number; readonly name: string; readonly tries: number },
    run: (step: StepInfo) => unknown,
  ): Promise<Tried> {
    const { record, signal } = this.#options.ledger
    try {
      const info = { attempt: tries, abortSignal: signal, key: `${record.pid}:${stepIndex}` }
      const inside = { name, key: `${stepIndex}:${tries}`, charges: 0 }
      return { type: 'done', value: await insideStep.run(inside, () => run(info)) }
    } catch (error) {
      return { type: 'failed', error }
    }
  }

  async #end(step: StepEnded): Promise<undefined> {
    const { calls, writer } = this.#options
    try {
      const written = await writer.write({ type: 'end_step', step })
      if (written.type === 'appended') calls.settleWritten(stepEntry(step, written.at))
    } catch (error) {
      if (!isTooLarge(error) || step.how === 'failed') throw error
      const { stepIndex, kind, name, began, tries } = step
      await this.#end({ stepIndex, kind, name, began, tries, ...failedAsTooLarge(name, error) })
    }
  }

  /** A process with too many waits gets the refusal as the result of this call; its other calls continue. */
  async #enterWait(stepIndex: number, ref: WaitRef, until: number | null): Promise<Written | typeof REFUSED> {
    const { ledger, writer } = this.#options
    try {
      return await writer.write({ type: 'enter_wait', wait: ref, until })
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'conflict') throw error
      const { on, name } = ref
      const began = ledger.clock.now()
      await this.#end({
        stepIndex,
        kind: stepKindOf(on),
        name,
        began,
        tries: 1,
        how: 'failed',
        error: error.message,
      })
      return REFUSED
    }
  }

  #endWait(stepIndex: number, { on, name }: WaitRef, began: number, value: Json): Promise<void> {
    return this.#end({ stepIndex, kind: stepKindOf(on), name, began, tries: 1, how: 'done', value })
  }

  /** A refusal is the result of the call, in later attempts too. */
  async #unlessRefused<Answer>(
    stepIndex: number,
    kind: StepKind,
    name: string,
    act: () => Promise<Answer>,
  ): Promise<Answer | typeof REFUSED> {
    const began = this.#options.ledger.clock.now()
    try {
      return await act()
    } catch (error) {
      if (!isFinal(error) || error.code === 'stale_fence') throw error
      await this.#end({ stepIndex, kind, name, began, tries: 1, how: 'failed', error: error.message })
      return REFUSED
    }
  }

  /** An answer by key that came before the wait has no step index, so it is recorded at this one. */
  async #endIfAnswered(stepIndex: number, ref: WaitRef, began: number, event: StoredEvent): Promise<void> {
    const left = event.payload as { readonly stepIndex?: number; readonly value: Json }
    if (left.stepIndex === undefined) await this.#endWait(stepIndex, ref, began, left.value)
  }

  #leaveWait(wait: WaitRef, how: 'due' | 'timed_out' | 'ended', value: Json): void {
    const { writer, fail } = this.#options
    if (writer.isOver) return
    writer.write({ type: 'leave_wait', wait, how, value }).catch((error: unknown) => {
      // Another event has ended the wait already, and is in the log.
      const hasEnded = error instanceof RefusedError && error.code === 'not_waiting'
      if (!hasEnded && !writer.isOver) fail(error)
    })
  }
}

const REFUSED = Symbol('refused')

type Tried =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: unknown }

export function stepKindOf(on: WaitOn): StepKind {
  if (on === 'timer') return 'sleep'
  if (on === 'child') return 'wait'
  return on === 'message' ? 'receive' : 'signal'
}
