import { RefusedError } from '../core/errors.ts'
import type { ReeveVerbs } from './reeve.ts'
import type { WakeUp } from './wake-up.ts'

/** Says when a process has new events. Reads the change feed only while its reader waits, so a slow reader buffers nothing. */
export class FeedNudges {
  readonly #verbs: Pick<ReeveVerbs, 'follow'>
  readonly #pid: string
  readonly #wakeUp: WakeUp
  readonly #options: { readonly signal: AbortSignal }
  #events: AsyncIterator<{ readonly seq: number }> | null = null
  #position: number
  #seen = 0
  #isReading = false
  #hasNews = false
  #failure: { readonly error: unknown } | null = null

  constructor(
    verbs: Pick<ReeveVerbs, 'follow'>,
    pid: string,
    position: number,
    wakeUp: WakeUp,
    options: { readonly signal: AbortSignal },
  ) {
    this.#verbs = verbs
    this.#pid = pid
    this.#position = position
    this.#wakeUp = wakeUp
    this.#options = options
  }

  /** Events up to `seq` have been read; `position` is where to follow from, should the feed be read anew. */
  seen(seq: number, position: number): void {
    this.#seen = seq
    this.#position = position
    this.#read()
  }

  /** Whether there is news, once. Throws if the process cannot be followed any more. */
  take(): boolean {
    if (this.#failure !== null) throw this.#failure.error
    const hadNews = this.#hasNews
    this.#hasNews = false
    return hadNews || this.#options.signal.aborted
  }

  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    const filter = { pid: [this.#pid] }
    this.#events ??= this.#verbs
      .follow({ after: this.#position, filter }, this.#options)
      [Symbol.asyncIterator]()
    void this.#untilNews(this.#events).finally(() => {
      this.#isReading = false
      this.#wakeUp.give()
    })
  }

  async #untilNews(events: AsyncIterator<{ readonly seq: number }>): Promise<void> {
    try {
      for (;;) {
        const next = await events.next()
        if (next.done === true) this.#events = null
        if (next.done === true || next.value.seq > this.#seen) break
      }
    } catch (error) {
      this.#events = null
      // The feed was pruned beyond this reader. The log is read by seq, so nothing is missed.
      if (!(error instanceof RefusedError && error.code === 'behind_pruned')) this.#failure = { error }
    }
    this.#hasNews = true
  }
}
