import { codeOf } from '../base/error-text.ts'
import { isDead } from '../core/lease/holder.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord, type StopHow } from '../core/process/record.ts'
import { stopSignalOf, trackedOf } from '../core/process/tracked.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { isHere, isStopped, signalTracked } from './signal-tracked.ts'

/** A stop of an external process that has no PID on record. */
export interface ExternalStop {
  readonly record: ProcessRecord
  readonly how: StopHow
  readonly reason: string
  readonly source: Actor
}

/** Passes a stop on to a process that the program itself runs. True when the stop reached it. */
export type OnStop = (stop: ExternalStop) => boolean | Promise<boolean>

/** The result of a delivery. `elsewhere`: another kernel delivers the stop. */
export type Delivery =
  | { readonly type: 'delivered' }
  | { readonly type: 'ended' }
  | { readonly type: 'elsewhere' }
  | { readonly type: 'unreachable' }
  | { readonly type: 'forbidden' }

export interface DeliveryOptions {
  readonly onStop: OnStop | undefined
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** Delivers recorded stops, each once unless a crash comes in between, and records the delivery. */
export class Deliveries {
  readonly #kernel: Kernel
  readonly #options: DeliveryOptions
  /** The last delivery of each process; successful ones stay until its end, so that none is repeated. */
  readonly #last = new Map<Pid, { readonly key: string; readonly delivery: Promise<Delivery> }>()
  /** Processes whose callback has not returned yet. */
  readonly #called = new Set<Pid>()
  readonly #recordGone: (pid: Pid) => Promise<void>

  constructor(kernel: Kernel, options: DeliveryOptions, recordGone: (pid: Pid) => Promise<void>) {
    this.#kernel = kernel
    this.#options = options
    this.#recordGone = recordGone
  }

  forget(pid: Pid): void {
    this.#last.delete(pid)
  }

  /** Delivers the recorded stop, unless it has been delivered. */
  async deliver(pid: Pid): Promise<Delivery> {
    const row = await this.#kernel.edges.store.ask({ ask: 'process', pid })
    if (row === null || hasEnded(row.record)) return { type: 'ended' }
    const { kind, stopRequest } = row.record
    if (kind !== 'external' || stopRequest === null) return { type: 'unreachable' }
    if (stopRequest.deliveredAt !== undefined) return { type: 'delivered' }
    const key = `${stopRequest.how} ${stopRequest.at}`
    const last = this.#last.get(pid)
    if (last?.key === key) return last.delivery
    const delivery = this.#deliverNow(row.record, stopRequest)
    const entry = { key, delivery }
    this.#last.set(pid, entry)
    const forget = () => {
      if (this.#last.get(pid) === entry) this.#last.delete(pid)
    }
    delivery.then(({ type }) => {
      if (type !== 'delivered') forget()
    }, forget)
    return delivery
  }

  /** Whether a callback of the program runs for this process. */
  isCalling(pid: Pid): boolean {
    return this.#called.has(pid)
  }

  async #deliverNow(
    record: ProcessRecord,
    stop: NonNullable<ProcessRecord['stopRequest']>,
  ): Promise<Delivery> {
    const tracked = trackedOf(record)
    const { how, reason, source } = stop
    if (tracked === null) {
      if (!(await this.#callBack({ record, how, reason, source }))) return { type: 'unreachable' }
      await this.#confirm(record.pid, how, 'callback')
      return { type: 'delivered' }
    }
    if (!isHere(tracked) || !(await this.#isFirstHere())) return { type: 'elsewhere' }
    const result = signalTracked(tracked, stopSignalOf(how))
    if (result === 'gone' || result === 'stranger') {
      await this.#recordGone(record.pid)
      return { type: 'ended' }
    }
    if (result !== 'sent') return { type: 'forbidden' }
    if (isStopped(tracked)) signalTracked(tracked, 'SIGCONT')
    await this.#confirm(record.pid, how, 'signal')
    return { type: 'delivered' }
  }

  /** An error in the callback is reported to the program, not to the caller that asked for the stop. */
  async #callBack(stop: ExternalStop): Promise<boolean> {
    const { onStop, onTrouble } = this.#options
    const { pid } = stop.record
    this.#called.add(pid)
    try {
      return onStop !== undefined && (await onStop(stop))
    } catch (error) {
      onTrouble(error, `stopping ${pid}`)
      return false
    } finally {
      this.#called.delete(pid)
    }
  }

  async #confirm(pid: Pid, how: StopHow, by: 'signal' | 'callback'): Promise<void> {
    const asked = { pid, actor: `kernel:${this.#kernel.id}`, at: this.#kernel.edges.clock.now() } as const
    await this.#kernel
      .perform({ type: 'confirm_stop', ...asked, delivered: { how, by } })
      .catch((error: unknown) => {
        if (codeOf(error) !== 'already_ended') throw error
      })
  }

  /** Several kernels may run on one machine over one store: the first of them, by id, delivers. */
  async #isFirstHere(): Promise<boolean> {
    const { edges, id } = this.#kernel
    const holders = await edges.store.ask({ ask: 'holders' })
    const own = holders.find((holder) => holder.id === id)
    if (own === undefined) return true
    return !holders.some(
      (holder) =>
        holder.role === 'kernel' &&
        holder.id < id &&
        holder.host === own.host &&
        holder.boot === own.boot &&
        holder.pidNamespace === own.pidNamespace &&
        !isDead(holder, edges.prove(holder)),
    )
  }
}
