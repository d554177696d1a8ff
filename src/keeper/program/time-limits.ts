/** Ends a program that runs for too long, or says nothing for too long. */
export class TimeLimits {
  #lastOutputAt = performance.now()
  #timeout: NodeJS.Timeout | null = null
  #idle: NodeJS.Timeout | null = null

  constructor(
    limits: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
    /** How long it has run already. */
    ranMs: number,
    exceeded: (because: 'timeout' | 'idle') => void,
  ) {
    const { timeoutMs, idleTimeoutMs } = limits
    if (timeoutMs !== null)
      after(
        timeoutMs - ranMs,
        (timer) => {
          this.#timeout = timer
        },
        () => exceeded('timeout'),
      )
    if (idleTimeoutMs !== null) this.#watchIdle(idleTimeoutMs, exceeded)
  }

  /** Only takes the time; whether it is idle is looked at when it could be. */
  output(): void {
    this.#lastOutputAt = performance.now()
  }

  stop(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout)
    if (this.#idle !== null) clearTimeout(this.#idle)
  }

  #watchIdle(idleTimeoutMs: number, exceeded: (because: 'idle') => void): void {
    const left = idleTimeoutMs - (performance.now() - this.#lastOutputAt)
    if (left <= 0) exceeded('idle')
    else
      after(
        left,
        (timer) => {
          this.#idle = timer
        },
        () => this.#watchIdle(idleTimeoutMs, exceeded),
      )
  }
}

/** The longest that a timer of Node can wait. */
const LONGEST_MS = 2 ** 31 - 1

function after(ms: number, isSet: (timer: NodeJS.Timeout) => void, act: () => void): void {
  if (ms <= LONGEST_MS) isSet(setTimeout(act, Math.max(0, ms)))
  else isSet(setTimeout(() => after(ms - LONGEST_MS, isSet, act), LONGEST_MS))
}
