import { MAX_TIMER_MS } from '../../base/max-timer-ms.ts'

/** The program, as its time limits see it. */
interface Timing {
  /** How long it has run already. */
  readonly ranMs: number
  /** Whether the program cannot write: it is paused, or the disk is full. */
  isSuspended(): boolean
  exceeded(because: 'timeout' | 'idle'): void
}

/** Notices that a program runs for too long, or prints nothing for too long. */
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

  /** Only takes the time: the check comes when the program could be idle. */
  output(): void {
    this.#lastOutputAt = performance.now()
  }

  /** The program can write again: idle time begins now. */
  goOn(): void {
    this.#lastOutputAt = performance.now()
  }

  stop(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout)
    if (this.#idle !== null) clearTimeout(this.#idle)
  }

  /** Never calls `exceeded` synchronously: the time of a program that is taken over may be up before it is constructed. */
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
    if (this.#timing.isSuspended()) this.goOn()
    const leftMs = idleTimeoutMs - (performance.now() - this.#lastOutputAt)
    if (leftMs <= 0) this.#timing.exceeded('idle')
    else this.#idle = setTimeout(() => this.#watchIdle(idleTimeoutMs), Math.min(leftMs, MAX_TIMER_MS))
  }
}
