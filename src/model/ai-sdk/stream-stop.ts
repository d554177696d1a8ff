import type { Cancel, Clock } from '../../core/clock.ts'

/** The calls whose bytes are counted, by the signal that reaches fetch. */
const callsBySignal = new WeakMap<AbortSignal, StreamStop>()

/** Bytes of the call with this signal arrived: also comments and pings, which keep a stream alive while the model thinks. */
export function touchCallOf(signal: AbortSignal | null | undefined): void {
  if (signal) callsBySignal.get(signal)?.touch()
}

/** Ends one call: when its caller aborts it, or when nothing arrived for too long. */
export class StreamStop {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #callerSignal: AbortSignal | undefined
  readonly #onCallerAbort = () => this.#stop('aborted')
  readonly #stopped = Promise.withResolvers<never>()
  #cancelTimer: Cancel
  #touchedAt: number
  #onStop: () => void = () => {}
  reason: 'aborted' | 'idle' | undefined

  constructor(clock: Clock, idleMs: number, callerSignal: AbortSignal | undefined) {
    this.#clock = clock
    this.#idleMs = idleMs
    this.#callerSignal = callerSignal
    this.#touchedAt = clock.now()
    this.#cancelTimer = clock.after(idleMs, () => this.#checkIdle())
    this.#stopped.promise.catch(() => {})
    callsBySignal.set(this.signal, this)
    callerSignal?.addEventListener('abort', this.#onCallerAbort)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Something arrived. One timer serves the whole call: streams bring thousands of parts. */
  touch(): void {
    this.#touchedAt = this.#clock.now()
  }

  /** Rejects when the call is stopped, also if `promise` ignores the signal. */
  race<Value>(promise: PromiseLike<Value>): Promise<Value> {
    return Promise.race([promise, this.#stopped.promise])
  }

  onStop(task: () => void): void {
    this.#onStop = task
    if (this.reason !== undefined) task()
  }

  dispose(): void {
    this.#cancelTimer()
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort)
  }

  #checkIdle(): void {
    const left = this.#touchedAt + this.#idleMs - this.#clock.now()
    if (left <= 0) this.#stop('idle')
    else this.#cancelTimer = this.#clock.after(Math.min(left, this.#idleMs), () => this.#checkIdle())
  }

  #stop(reason: 'aborted' | 'idle'): void {
    if (this.reason !== undefined) return
    this.reason = reason
    const error = new DOMException(`The call was stopped: ${reason}.`, 'AbortError')
    this.#stopped.reject(error)
    this.#controller.abort(error)
    this.#onStop()
  }
}
