import { withTimeout } from '../base/with-timeout.ts'

/** How long a healthy keeper may take to answer on a busy machine. */
const MAX_ANSWER_MS = 4_000

/** Whether a keeper answers: the connection to one that is stopped (SIGSTOP) stays open. */
export class KeeperPulse {
  readonly #ask: () => Promise<unknown>
  #asked: Promise<boolean> | undefined

  constructor(ask: () => Promise<unknown>) {
    this.#ask = ask
  }

  /** Callers share one request, so that requests do not pile up in a stopped keeper. */
  async answers(): Promise<boolean> {
    this.#asked ??= this.#ask()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#asked = undefined
      })
    return withTimeout(this.#asked, MAX_ANSWER_MS, false)
  }
}
