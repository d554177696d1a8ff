export interface IdleExitOptions {
  readonly lingerMs: number
  keeps(): boolean
  hasDaemon(): boolean
  go(): Promise<void>
}

/**
 * How long the keeper stays. It looks whenever something has changed: whether it keeps anything, and whether a daemon is there.
 *
 * | state   | a daemon comes | looks, and there is either | looks, and there is neither | the daemon takes leave     | the time is up |
 * | stays   | stays          | stays                      | → lingers                   | → goes; → left if it keeps | –              |
 * | lingers | → stays        | → stays                    | lingers                     | → goes; → left if it keeps | → goes         |
 * | left    | → stays        | left                       | → goes                      | → goes; left if it keeps   | –              |
 * | goes    | –              | –                          | –                           | –                          | –              |
 */
export class IdleExit {
  readonly #options: IdleExitOptions
  #lingering: NodeJS.Timeout | null = null
  #isLeft = false
  #isGoing = false

  constructor(options: IdleExitOptions) {
    this.#options = options
  }

  /** At the start: the daemon that started this keeper may take its time. */
  begin(atLeastMs: number): void {
    this.#stopLingering()
    this.#lingering = setTimeout(() => this.leave(), Math.max(this.#options.lingerMs, atLeastMs))
    this.look()
  }

  /** Something has changed. */
  look(): void {
    const { keeps, hasDaemon, lingerMs } = this.#options
    if (keeps() || hasDaemon()) this.#stopLingering()
    else if (this.#isLeft) this.leave()
    else this.#lingering ??= setTimeout(() => this.leave(), lingerMs)
  }

  /** A daemon is there. */
  serve(): void {
    this.#isLeft = false
    this.look()
  }

  /** Nobody will need it before long. */
  leave(): void {
    this.#stopLingering()
    this.#isLeft = true
    if (this.#isGoing || this.#options.keeps()) return
    this.#isGoing = true
    void this.#options.go()
  }

  #stopLingering(): void {
    if (this.#lingering !== null) clearTimeout(this.#lingering)
    this.#lingering = null
  }
}
