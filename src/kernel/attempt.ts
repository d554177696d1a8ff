import type { Fence } from '../core/lease/lease.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Work } from './executor.ts'

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
  readonly holder: string
  /** Rises when this kernel's row lapsed and it claimed its own again. */
  fenceNumber: number
  /** Its end has been written here, or belongs to somebody else now. */
  over = false
  #stopped: Stopped | undefined
  /** Made when somebody asks for the signal: most attempts end before anybody does. */
  #controller: AbortController | undefined

  constructor(record: ProcessRecord, holder: string, fenceNumber: number) {
    this.record = record
    this.holder = holder
    this.fenceNumber = fenceNumber
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

  fence(): Fence {
    return { holder: this.holder, fence: this.fenceNumber }
  }
}
