import { MAX_TIMER_MS } from '../../base/max-timer-ms.ts'

/** What a program's time limits have to know, and do. */
interface Timing {
  /** How long it has run already. */
  readonly ranMs: number
  /** Whether it could not write if it would: it is paused, or the disk is full. */
  isHeld(): boolean
  exceeded(because: 'timeout' | 'idle'): void
}

/** Notices that a program runs for too long, or says nothing for too long. */
export class TimeLimits {
  readonly #timing: Timing
  #lastOutputAt = performance.now()
  #timeout: NodeJS.Timeout | null = null
  #idle: NodeJS.Timeout | null = null

  constructor(
    limits: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
    timing: Timing,
  ) {
    this.#timing = timing
    const { timeoutMs, idleTimeoutMs } = limits
    if (timeoutMs !== null) this.#watchTimeout(timeoutMs - timing.ranMs)
    if (idleTimeoutMs !== null) this.#watchIdle(idleTimeoutMs)
  }

  /** Only takes the time; whether it is idle is looked at when it could be. */
  output(): void {
    this.#lastOutputAt = performance.now()
  }

  /** It was held, and is so no longer: from now on it can be idle. */
  goOn(): void {
    this.#lastOutputAt = performance.now()
  }

  stop(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout)
    if (this.#idle !== null) clearTimeout(this.#idle)
  }

  /** Never calls `exceeded` at once: a program that is taken over may be past its time before it is constructed. */
  #watchTimeout(leftMs: number): void {
    const laterMs = leftMs - MAX_TIMER_MS
    this.#timeout = setTimeout(
      () => {
        if (laterMs > 0) this.#watchTimeout(laterMs)
        else this.#timing.exceeded('timeout')
      },
      Math.min(Math.max(leftMs, 0), MAX_TIMER_MS),
    )
  }

  #watchIdle(idleTimeoutMs: number): void {
    if (this.#timing.isHeld()) this.goOn()
    const leftMs = idleTimeoutMs - (performance.now() - this.#lastOutputAt)
    if (leftMs <= 0) this.#timing.exceeded('idle')
    else this.#idle = setTimeout(() => this.#watchIdle(idleTimeoutMs), Math.min(leftMs, MAX_TIMER_MS))
  }
}
