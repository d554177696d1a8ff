export interface IdleExitOptions {
  readonly lingerMs: number
  keeps(): boolean
  hasDaemon(): boolean
  go(): Promise<void>
}

/**
 * Decides when the keeper exits. It checks after every change whether the keeper has programs, and whether a daemon is connected.
 *
 * | state   | a daemon comes | check finds either         | check finds neither         | the daemon takes leave     | the time is up |
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

  /** At the start, the daemon that started this keeper may take longer to connect. */
  begin(atLeastMs: number): void {
    this.#stopLingering()
    this.#lingering = setTimeout(() => this.leave(), Math.max(this.#options.lingerMs, atLeastMs))
    this.look()
  }

  /** Checks again after a change. */
  look(): void {
    const { keeps, hasDaemon, lingerMs } = this.#options
    if (keeps() || hasDaemon()) this.#stopLingering()
    else if (this.#isLeft) this.leave()
    else this.#lingering ??= setTimeout(() => this.leave(), lingerMs)
  }

  /** A daemon has connected. */
  serve(): void {
    this.#isLeft = false
    this.look()
  }

  /** The keeper is not needed any more: it exits now, or once its last program has ended. */
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
