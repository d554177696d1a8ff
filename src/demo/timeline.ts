import type { TypedEvent } from '../core/process/event.ts'
import type { Reeve } from '../verbs/reeve.ts'

/** Follows the change feed, keeps its events, and lets callers wait for a condition on them. */
export class Timeline {
  readonly events: TypedEvent[] = []
  readonly #signal: AbortSignal
  readonly #waiting = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  async follow(reeve: Reeve): Promise<void> {
    for await (const event of reeve.follow({}, { signal: this.#signal })) {
      this.events.push(event)
      for (const look of [...this.#waiting]) look()
    }
  }

  /** Resolves as soon as `holds` is true; rejects when the demo is aborted. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        this.#waiting.delete(look)
        this.#signal.removeEventListener('abort', look)
        then()
      }
      const look = () => {
        if (this.#signal.aborted) settle(() => reject(this.#signal.reason))
        else if (holds()) settle(resolve)
      }
      this.#waiting.add(look)
      this.#signal.addEventListener('abort', look)
      look()
    })
  }

  of(pid: string): TypedEvent[] {
    return this.events.filter((event) => event.pid === pid)
  }

  ofType(type: string): TypedEvent[] {
    return this.events.filter((event) => event.type === type)
  }

  /** The pids of processes that were registered for this tool. */
  pidsOf(tool: string): string[] {
    return this.events.flatMap((event) => {
      return event.type === 'registered' && event.payload.spec['tool'] === tool ? [event.pid] : []
    })
  }

  has(pid: string, type: string): boolean {
    return this.events.some((event) => event.pid === pid && event.type === type)
  }
}
