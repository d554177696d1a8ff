import type { Json } from '../core/json/json.ts'
import type { ReservedEvent, StoredEvent } from '../core/process/event.ts'
import type { StepEnded, StepKind, StepTried } from '../core/process/step-event.ts'
import { decode } from '../core/value/decode.ts'
import type { Value } from '../core/value/value.ts'

/** The recorded result of one context call. */
export interface Entry {
  /** The step index: the number of the call within its workflow. */
  readonly stepIndex: number
  readonly kind: StepKind
  readonly name: string
  readonly at: number
  readonly result: Result
}

type Result =
  | { readonly type: 'value'; readonly value: Value }
  | { readonly type: 'error'; readonly message: string; readonly thrown: Value }

/** A call that the log has without a result. */
interface OpenCall {
  readonly kind: StepKind
  readonly name: string
  /** The deadline of a wait, as first recorded. */
  readonly until: number | null
  /** For a step: the number of failed tries, and the time of the next one. */
  readonly tries: number
  readonly retryAt: number
}

/** The name of the wait between two tries of a step is this prefix and the step index. */
export const BACKOFF_PREFIX = 'retry-'

function isBackoffWait(on: string, name: string, stepIndex: number | undefined): boolean {
  return on === 'timer' && stepIndex === undefined && name.startsWith(BACKOFF_PREFIX)
}

function stepIndexOf(name: string): number {
  return Number(name.slice(BACKOFF_PREFIX.length))
}

type Payload<Type extends ReservedEvent['type']> = Extract<ReservedEvent, { type: Type }>['payload']

const KIND_OF_WAIT: { readonly [on: string]: StepKind } = {
  timer: 'sleep',
  signal: 'signal',
  message: 'receive',
  child: 'wait',
}

/** The state of a workflow's calls, built from its events. Takes every event once, in order. */
export class Journal {
  readonly #open = new Map<number, OpenCall>()
  /** Step indexes of failed steps whose backoff is a wait in the log. */
  readonly #backingOff = new Set<number>()
  /** Values of signals that no wait has taken yet, by the `seq` of their events. */
  readonly #signals = new Map<number, Json>()

  /** Messages that no wait has taken yet, by the `seq` of their events. */
  readonly #messages = new Map<number, Json>()

  /** Applies an event. Returns the result that it gives to a call, if any. */
  apply(event: StoredEvent): Entry | undefined {
    if (event.type.startsWith('signal.')) {
      this.#signals.set(event.seq, (event.payload as { value: Json }).value)
      return undefined
    }
    const payload = event.payload as unknown
    switch (event.type) {
      case 'message_received':
        this.#messages.set(event.seq, event.payload)
        return undefined
      case 'step_ended':
        return stepEntry(payload as StepEnded, event.at)
      case 'step_tried': {
        const { stepIndex, kind, name, tries, retryAt } = payload as StepTried
        this.#open.set(stepIndex, { kind, name, until: null, tries, retryAt })
        return undefined
      }
      case 'child_registered':
        return childEntry(payload as Payload<'child_registered'>, event.at)
      case 'wait_entered':
        this.#enterWait(payload as Payload<'wait_entered'>)
        return undefined
      case 'wait_left':
        return this.#leaveWait(payload as Payload<'wait_left'>, event.at)
      default:
        return undefined
    }
  }

  /** Whether the log has a backoff wait for this step. */
  isBackingOff(stepIndex: number): boolean {
    return this.#backingOff.has(stepIndex)
  }

  openCall(stepIndex: number): OpenCall | undefined {
    return this.#open.get(stepIndex)
  }

  /** The open calls by step index. */
  get openCalls(): ReadonlyMap<number, OpenCall> {
    return this.#open
  }

  /** Drops a call that has its result. */
  forget(stepIndex: number): void {
    this.#open.delete(stepIndex)
  }

  #enterWait({ on, name, until, stepIndex }: Payload<'wait_entered'>): void {
    const kind = KIND_OF_WAIT[on]
    if (isBackoffWait(on, name, stepIndex)) this.#backingOff.add(stepIndexOf(name))
    if (stepIndex === undefined || kind === undefined || this.#open.has(stepIndex)) return
    this.#open.set(stepIndex, { kind, name, until, tries: 0, retryAt: 0 })
  }

  #leaveWait(left: Payload<'wait_left'>, at: number): Entry | undefined {
    const { on, name, stepIndex } = left
    const kind = KIND_OF_WAIT[on]
    const value = this.#takenBy(left)
    if (isBackoffWait(on, name, stepIndex)) this.#backingOff.delete(stepIndexOf(name))
    if (stepIndex === undefined || kind === undefined) return undefined
    return { stepIndex, kind, name, at, result: { type: 'value', value } }
  }

  /** The result of a wait; undefined after its timeout. */
  #takenBy({ how, signalSeq, messageSeq, value }: Payload<'wait_left'>): Json | undefined {
    switch (how) {
      case 'signal':
        return signalSeq === null ? undefined : takeFrom(this.#signals, signalSeq)
      case 'message':
        return messageSeq === undefined ? undefined : takeFrom(this.#messages, messageSeq)
      case 'answered':
      case 'ended':
        return value
      default:
        return undefined
    }
  }
}

function takeFrom(values: Map<number, Json>, seq: number): Json | undefined {
  const value = values.get(seq)
  values.delete(seq)
  return value
}

export function stepEntry(step: StepEnded, at: number): Entry {
  const { stepIndex, kind, name } = step
  return { stepIndex, kind, name, at, result: resultOf(step) }
}

/** The attempt that ran the step decodes its result too: the code gets the same value each time. Only steps are encoded. */
function resultOf(step: StepEnded): Result {
  if (step.how === 'failed')
    return { type: 'error', message: step.error, thrown: decode(step.thrown ?? null) ?? undefined }
  const { kind, value } = step
  return { type: 'value', value: kind === 'step' && value !== undefined ? decode(value) : value }
}

function childEntry(
  { pid, kind, label, stepIndex }: Payload<'child_registered'>,
  at: number,
): Entry | undefined {
  if (stepIndex === undefined) return undefined
  return { stepIndex, kind: 'spawn', name: kind, at, result: { type: 'value', value: { pid, kind, label } } }
}
