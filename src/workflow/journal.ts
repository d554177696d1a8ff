import type { Json } from '../core/json/json.ts'
import type { ReservedEvent, StepEnded, StepKind, StepTried, StoredEvent } from '../core/process/event.ts'
import { decode } from '../core/value/decode.ts'
import type { Value } from '../core/value/value.ts'

/** How one call of the context came out, as the log has it. */
export interface Entry {
  readonly place: number
  readonly kind: StepKind
  readonly name: string
  readonly at: number
  readonly result: Result
}

type Result =
  | { readonly type: 'value'; readonly value: Value }
  | { readonly type: 'error'; readonly message: string; readonly thrown: Value }

/** What the log says of a call that has not come out yet. */
interface Begun {
  readonly kind: StepKind
  readonly name: string
  /** Of a wait: until when, as it was first said. */
  readonly until: number | null
  /** Of a step: how often it failed, and when it is tried again. */
  readonly tries: number
  readonly retryAt: number
}

/** The name of a wait that stands between two tries of a step; its place follows. */
export const BACKOFF = 'retry-'

function isBackOff(on: string, name: string, place: number | undefined): boolean {
  return on === 'timer' && place === undefined && name.startsWith(BACKOFF)
}

function stepOf(name: string): number {
  return Number(name.slice(BACKOFF.length))
}

type Payload<Type extends ReservedEvent['type']> = Extract<ReservedEvent, { type: Type }>['payload']

const KIND_OF_WAIT: { readonly [on: string]: StepKind } = { timer: 'sleep', signal: 'signal', child: 'wait' }

/** A workflow's calls as its events tell them. Sees every event once, in order; keeps what has not been asked for yet. */
export class Journal {
  readonly #begun = new Map<number, Begun>()
  /** Places of failed steps that wait for their next try by a wait in the log. */
  readonly #backingOff = new Set<number>()
  /** Values of signals that no wait has taken yet, by the `seq` of their events. */
  readonly #signals = new Map<number, Json>()

  /** What this event says about a call that came out, if it does. */
  see(event: StoredEvent): Entry | undefined {
    if (event.type.startsWith('signal.')) {
      this.#signals.set(event.seq, (event.payload as { value: Json }).value)
      return undefined
    }
    const payload = event.payload as unknown
    switch (event.type) {
      case 'step_ended':
        return stepEntry(payload as StepEnded, event.at)
      case 'step_tried': {
        const { place, kind, name, tries, retryAt } = payload as StepTried
        this.#begun.set(place, { kind, name, until: null, tries, retryAt })
        return undefined
      }
      case 'child_registered':
        return childEntry(payload as Payload<'child_registered'>, event.at)
      case 'wait_entered':
        this.#entered(payload as Payload<'wait_entered'>)
        return undefined
      case 'wait_left':
        return this.#left(payload as Payload<'wait_left'>, event.at)
      default:
        return undefined
    }
  }

  /** Whether the log has it that a failed step waits for its next try. */
  isBackingOff(place: number): boolean {
    return this.#backingOff.has(place)
  }

  /** What was begun at this place, and has not come out. */
  begun(place: number): Begun | undefined {
    return this.#begun.get(place)
  }

  /** The places of what was begun. */
  get open(): ReadonlyMap<number, Begun> {
    return this.#begun
  }

  /** It came out: nothing is asked about it any more. */
  forget(place: number): void {
    this.#begun.delete(place)
  }

  #entered({ on, name, until, place }: Payload<'wait_entered'>): void {
    const kind = KIND_OF_WAIT[on]
    if (isBackOff(on, name, place)) this.#backingOff.add(stepOf(name))
    if (place === undefined || kind === undefined || this.#begun.has(place)) return
    this.#begun.set(place, { kind, name, until, tries: 0, retryAt: 0 })
  }

  #left(left: Payload<'wait_left'>, at: number): Entry | undefined {
    const { on, name, how, signalSeq, place } = left
    const kind = KIND_OF_WAIT[on]
    const taken = signalSeq === null ? undefined : this.#signals.get(signalSeq)
    if (signalSeq !== null) this.#signals.delete(signalSeq)
    if (isBackOff(on, name, place)) this.#backingOff.delete(stepOf(name))
    if (place === undefined || kind === undefined) return undefined
    const value = how === 'signal' ? taken : how === 'answered' || how === 'ended' ? left.value : undefined
    return { place, kind, name, at, result: { type: 'value', value } }
  }
}

export function stepEntry(step: StepEnded, at: number): Entry {
  const { place, kind, name } = step
  return { place, kind, name, at, result: resultOf(step) }
}

/** Decoded in the attempt that ran the step, too: the code gets the same value each time. Only steps are encoded. */
function resultOf(step: StepEnded): Result {
  if (step.how === 'failed')
    return { type: 'error', message: step.error, thrown: decode(step.thrown ?? null) ?? undefined }
  const { kind, value } = step
  return { type: 'value', value: kind === 'step' && value !== undefined ? decode(value) : value }
}

function childEntry({ pid, kind, label, place }: Payload<'child_registered'>, at: number): Entry | undefined {
  if (place === undefined) return undefined
  return { place, kind: 'spawn', name: kind, at, result: { type: 'value', value: { pid, kind, label } } }
}
