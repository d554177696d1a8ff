import type { Fragment } from '../model/model.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { LiveLog, LiveLogs } from './live/live-logs.ts'

/**
 * The output of one model call while it arrives. The first fragment is an entry of the session log before anything is shown: from then on
 * the turn cannot be rolled back. If that entry is refused, because the turn is over, nothing is shown, and the call is to end.
 */
export class LiveCall {
  readonly #logs: LiveLogs
  readonly #ledger: AgentLedger
  readonly #at: { readonly turn: number; readonly call: number }
  readonly #refused = new AbortController()
  #log: LiveLog | null = null
  #begun: Promise<void> | null = null
  #waiting: Fragment[] | null = []

  constructor(logs: LiveLogs, ledger: AgentLedger, at: { readonly turn: number; readonly call: number }) {
    this.#logs = logs
    this.#ledger = ledger
    this.#at = at
  }

  /** Aborted if the turn takes no output any more. */
  get refused(): AbortSignal {
    return this.#refused.signal
  }

  append(fragment: Fragment): void {
    this.#begun ??= this.#begin()
    if (fragment.type === 'begun') return
    if (this.#waiting !== null) this.#waiting.push(fragment)
    else this.#log?.append(fragment)
  }

  /** Resolves when everything that was shown can be read. */
  async close(): Promise<void> {
    await this.#begun
    await this.#log?.flushed()
    this.#log?.close()
  }

  async #begin(): Promise<void> {
    const log = this.#logs.open(this.#ledger.pid)
    try {
      await this.#ledger.act({ type: 'begin_output', ...this.#at, from: log.end })
    } catch (error) {
      log.close()
      this.#refused.abort(error)
      return
    }
    this.#log = log
    for (const fragment of this.#waiting ?? []) log.append(fragment)
    this.#waiting = null
  }
}
