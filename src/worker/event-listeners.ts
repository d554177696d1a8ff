import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'

/** Null: events may have been missed, and the listener reads the log. */
type Listener = (events: readonly StoredEvent[] | null) => void

/** The listeners of each process's events: one stream of the daemon serves all processes that the worker runs. */
export class EventListeners {
  readonly #listeners = new Map<Pid, Set<Listener>>()

  on(pid: Pid, listener: Listener): () => void {
    const listeners = this.#listeners.get(pid) ?? new Set()
    this.#listeners.set(pid, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(pid)
    }
  }

  tell(event: StoredEvent): void {
    for (const listener of [...(this.#listeners.get(event.pid) ?? [])]) listener([event])
  }

  tellAllOfMissed(): void {
    for (const listeners of this.#listeners.values()) for (const listener of [...listeners]) listener(null)
  }
}
