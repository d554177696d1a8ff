import type { Fence } from '../core/lease/lease.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Request, Work } from './executor.ts'

/** The reason of an attempt's abort signal: why it was told to stop. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly why: 'interrupt' | 'cancel' | 'kill' | 'lease_lost' | 'shutdown'
  constructor(why: Stopped['why'], message: string) {
    super(message)
    this.why = why
  }
}

/** One attempt at a process in this program, from the claim to the end. */
export class Attempt implements Work {
  readonly record: ProcessRecord
  holder: string
  /** Rises when this kernel's row lapsed and it reclaimed its leases. */
  fenceNumber: number
  /** Its end has been written here, or another holder writes it. */
  over = false
  /** It has ended, and the store has not accepted its end yet. */
  isUnrecorded = false
  #stopped: Stopped | undefined
  /** Made on the first read of `signal`: most attempts end without one. */
  #controller: AbortController | undefined
  #requests: Request[] = []
  readonly #waiting: (() => void)[] = []
  readonly #listeners = new Set<(request: Request) => void>()
  #waits = 0
  /** Called when it lends its slot to others, and when it takes the slot back. Set by `RunningAttempts`. */
  onSlot: (isLent: boolean) => void = () => {}

  constructor(record: ProcessRecord, holder: string, fenceNumber: number) {
    this.record = record
    this.holder = holder
    this.fenceNumber = fenceNumber
  }

  /** Resolves when its end has been written here, cannot be written now, or is another holder's to write. */
  get ended(): Promise<void> {
    if (this.over || this.isUnrecorded) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }

  settled(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#stopped !== undefined) this.#controller.abort(this.#stopped)
    }
    return this.#controller.signal
  }

  get stopped(): Stopped | undefined {
    return this.#stopped
  }

  /** The first reason counts. */
  stop(stopped: Stopped): void {
    this.#stopped ??= stopped
    this.#controller?.abort(this.#stopped)
  }

  onRequest(listener: (request: Request) => void): () => void {
    for (const request of this.#requests) listener(request)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Passes a request to the executor. A late listener gets only the last pause or resume. */
  request(request: Request): void {
    if (request.type !== 'stop') this.#requests = this.#requests.filter(({ type }) => type === 'stop')
    this.#requests.push(request)
    for (const listener of this.#listeners) listener(request)
  }

  lendSlot(): () => void {
    this.#waits += 1
    if (this.#waits === 1) this.onSlot(true)
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      this.#waits -= 1
      if (this.#waits === 0) this.onSlot(false)
    }
  }

  fence(): Fence {
    return { holder: this.holder, fence: this.fenceNumber }
  }
}
