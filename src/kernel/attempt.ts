import type { Fence } from '../core/lease/lease.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Request, Work } from './executor.ts'

/** Why a running attempt was told to stop; it is the reason of its abort signal. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly why: 'interrupt' | 'cancel' | 'kill' | 'lease_lost' | 'shutdown'
  constructor(why: Stopped['why'], message: string) {
    super(message)
    this.why = why
  }
}

/** One process in the hands of its executor here, from the claim to the end. */
export class Attempt implements Work {
  readonly record: ProcessRecord
  holder: string
  /** Rises when this kernel's row lapsed and it claimed its own again. */
  fenceNumber: number
  /** Its end has been written here, or belongs to somebody else now. */
  over = false
  /** It has ended, and the store could not take its end yet. */
  isUnrecorded = false
  #stopped: Stopped | undefined
  /** Made when somebody asks for the signal: most attempts end before anybody does. */
  #controller: AbortController | undefined
  #requests: Request[] = []
  readonly #waiting: (() => void)[] = []
  readonly #listeners = new Set<(request: Request) => void>()

  constructor(record: ProcessRecord, holder: string, fenceNumber: number) {
    this.record = record
    this.holder = holder
    this.fenceNumber = fenceNumber
  }

  /** When its end has been written here, or cannot be written now, or is another holder's to write. */
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

  /** Asked of the process while it is executed. Of a pause and a resume only the last matters to one that listens late. */
  request(request: Request): void {
    if (request.type !== 'stop') this.#requests = this.#requests.filter(({ type }) => type === 'stop')
    this.#requests.push(request)
    for (const listener of this.#listeners) listener(request)
  }

  fence(): Fence {
    return { holder: this.holder, fence: this.fenceNumber }
  }
}
