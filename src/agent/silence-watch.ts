import type { Clock } from '../core/clock.ts'

interface SilenceParts {
  readonly clock: Pick<Clock, 'after'>
  readonly silentMs: number
  /** Called once per silence. False: there was nothing to report, so it is called again after as long a time. */
  readonly report: () => Promise<boolean>
}

/** Reports an agent that has no event for a while. The report itself does not end the silence. */
export class SilenceWatch {
  readonly #parts: SilenceParts
  #cancel: () => void = () => undefined
  #report: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: SilenceParts) {
    this.#parts = parts
    this.heard()
  }

  /** The agent has an event: the time begins again. */
  heard(): void {
    this.#cancel()
    if (this.#isClosed) return
    const { clock, silentMs, report } = this.#parts
    this.#cancel = clock.after(silentMs, () => {
      this.#report = report().then((isReported) => {
        if (!isReported) this.heard()
      })
    })
  }

  /** Resolves when no report is being written. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#report
  }
}
