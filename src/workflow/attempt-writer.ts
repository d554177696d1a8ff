import { ExponentialBackoff } from '../base/exponential-backoff.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import type { Ledger, Written } from './ledger.ts'

const RETRY_MS = 100
const RETRY_MAX_MS = 5_000

/**
 * The writes of one attempt, and its pauses between them. A store that is unavailable for a while does not lose the result of a
 * step: every write has a replay key, so it is repeated until it succeeds or the attempt is over.
 */
export class AttemptWriter {
  readonly #ledger: Ledger
  readonly #sleepers = new Set<() => void>()
  /** Aborts requests that wait on behalf of this attempt. */
  readonly #over = new AbortController()
  /** Resolved unless the process is paused. */
  #resumed: Promise<void> = Promise.resolve()
  #resume = () => {}
  #isDraining = false

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  get isOver(): boolean {
    return this.#over.signal.aborted || this.#ledger.signal.aborted
  }

  get over(): AbortSignal {
    return this.#over.signal
  }

  write(intent: OwnIntent): Promise<Written> {
    return this.retryUntilDone(() => this.#ledger.write(intent))
  }

  /** Repeats `act` while the store is unavailable, with backoff, until the attempt is over. */
  async retryUntilDone<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const backoff = new ExponentialBackoff(RETRY_MS, RETRY_MAX_MS)
    for (;;) {
      try {
        return await act()
      } catch (error) {
        if (!isTrouble(error) || error.code === 'closed' || this.isOver) throw error
      }
      await this.until(this.#ledger.clock.now() + backoff.nextMs())
    }
  }

  /**
   * Awaited before a step starts, so that an attempt without its lease has no effects. Undefined while the lease is certainly
   * held.
   */
  get leaseConfirmed(): Promise<void> | undefined {
    let pending = this.#ledger.sure()
    if (pending === undefined) return undefined
    return this.retryUntilDone(async () => {
      const confirmed = pending ?? this.#ledger.sure()
      pending = undefined
      await confirmed
    })
  }

  /** Resolves at this time, or when the attempt is over. */
  until(time: number): Promise<void> {
    if (this.isOver) return Promise.resolve()
    const { clock } = this.#ledger
    return new Promise((resolve) => {
      const wake = () => {
        cancel()
        this.#sleepers.delete(wake)
        resolve()
      }
      const cancel = clock.after(Math.max(0, time - clock.now()), wake)
      this.#sleepers.add(wake)
    })
  }

  /** Resolves at once, unless the process is paused. */
  get resumed(): Promise<void> {
    return this.#resumed
  }

  pause(): void {
    if (this.#isDraining) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#resume()
    this.#resumed = promise
    this.#resume = resolve
  }

  resume(): void {
    if (!this.#isDraining) this.#resume()
  }

  /** Pauses the attempt until it is over. */
  drain(): void {
    if (this.isOver) return
    this.pause()
    this.#isDraining = true
  }

  /** Ends the attempt, and wakes all sleepers so that they see it. */
  close(): void {
    this.#over.abort()
    this.#resume()
    for (const wake of [...this.#sleepers]) wake()
  }
}

/** Whether the store or the connection to it was unavailable. The request may succeed later, or may have succeeded. */
export function isTrouble(error: unknown): error is ReeveError {
  return error instanceof ReeveError && !isFinal(error)
}

/** Whether a repeated request would fail in the same way: a rule refused it, or the server rejected its form. */
export function isFinal(error: unknown): error is ReeveError {
  return error instanceof RefusedError || (error instanceof ReeveError && FINAL_CODES.has(error.code))
}

const FINAL_CODES: ReadonlySet<string> = new Set(['bad_request', 'body_too_large', 'unsupported_media_type'])
