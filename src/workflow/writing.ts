import { ExponentialBackoff } from '../base/exponential-backoff.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import type { Ledger, Written } from './ledger.ts'

const RETRY_MS = 100
const RETRY_MAX_MS = 5_000

/**
 * What one attempt writes and waits for in between. What a step has done is not thrown away because the store is away
 * for a while: every write has a replay key, so it is repeated until it is there, or the attempt is over.
 */
export class Writing {
  readonly #ledger: Ledger
  readonly #sleepers = new Set<() => void>()
  /** Ends what waits elsewhere on behalf of this attempt. */
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
    return this.insist(() => this.#ledger.write(intent))
  }

  async insist<Answer>(act: () => Promise<Answer>): Promise<Answer> {
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

  /** Before something is begun outside: that the lease is still held, where there is doubt. */
  get certain(): Promise<void> | undefined {
    let doubt = this.#ledger.sure()
    if (doubt === undefined) return undefined
    return this.insist(async () => {
      const asked = doubt ?? this.#ledger.sure()
      doubt = undefined
      await asked
    })
  }

  /** At this time, or when the attempt is over. */
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

  /** At once, unless the process is paused. */
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

  /** As if it were paused, until it is over. */
  drain(): void {
    if (this.isOver) return
    this.pause()
    this.#isDraining = true
  }

  /** A stop: whoever sleeps finds that it is over. */
  close(): void {
    this.#over.abort()
    this.#resume()
    for (const wake of [...this.#sleepers]) wake()
  }
}

/** The store or the way to it could not be used: that says nothing about what was asked. */
export function isTrouble(error: unknown): error is ReeveError {
  return error instanceof ReeveError && !isFinal(error)
}

/** A no, of a rule or of a door: asked again, it would be the same. */
export function isFinal(error: unknown): error is ReeveError {
  return error instanceof RefusedError || (error instanceof ReeveError && UNFIT.has(error.code))
}

const UNFIT: ReadonlySet<string> = new Set(['bad_request', 'body_too_large', 'unsupported_media_type'])
