import { type EarlierLog, type PlacedLog, placedEvent, placedLogs } from '../core/agent/earlier-logs.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Store } from '../store/contract.ts'

const PAGE_EVENTS = 1_000
const PAGE_BYTES = 8 * 1024 * 1024

/** The events of a session in one row: those of the agent, behind those of the agents whose session it continues. */
export class SessionLog {
  readonly #store: Store
  readonly #pid: Pid
  readonly #earlier: readonly PlacedLog[]

  constructor(store: Store, pid: Pid, earlier: readonly EarlierLog[] = []) {
    this.#store = store
    this.#pid = pid
    this.#earlier = placedLogs(earlier)
  }

  /** The place before the first event. */
  get beginning(): number {
    return -(this.#earlier[0]?.shift ?? 0)
  }

  /** The next events behind a place; none at the end of the log. */
  async after(place: number): Promise<readonly StoredEvent[]> {
    const log = this.#earlier.find(({ through, shift }) => place < through - shift)
    const page = { limit: PAGE_EVENTS, bytes: PAGE_BYTES }
    if (log === undefined)
      return this.#store.ask({ ask: 'events', pid: this.#pid, after: Math.max(0, place), ...page })
    const { pid, through, shift } = log
    const events = await this.#store.ask({ ask: 'events', pid, after: Math.max(0, place + shift), ...page })
    const found = events.filter(({ seq }) => seq <= through).map((event) => placedEvent(event, shift))
    // Its events are kept as long as the record of the agent names it.
    if (found.length === 0) throw new Error(`The log of ${pid}, which ${this.#pid} continues, is gone`)
    return found
  }

  async at(place: number): Promise<StoredEvent | undefined> {
    return (await this.after(place - 1)).find(({ seq }) => seq === place)
  }

  /** The event with a replay key that depends on the number of a turn: those go on from log to log. */
  async with(replayKey: string): Promise<StoredEvent | null> {
    const own = await this.#store.ask({ ask: 'event', pid: this.#pid, replayKey })
    if (own !== null) return own
    for (const { pid, through, shift } of this.#earlier.toReversed()) {
      const event = await this.#store.ask({ ask: 'event', pid, replayKey })
      // An agent that the session branches from goes on, and its later turns have the same numbers.
      if (event !== null && event.seq <= through) return placedEvent(event, shift)
    }
    return null
  }

  /** The last events before a place, in their order; none at the beginning. */
  async before(place: number): Promise<readonly StoredEvent[]> {
    const page = { limit: PAGE_EVENTS, bytes: PAGE_BYTES }
    if (place > 1) return this.#store.ask({ ask: 'tail', pid: this.#pid, before: place, ...page })
    const log = this.#earlier.findLast(({ shift }) => place > 1 - shift)
    if (log === undefined) return []
    const { pid, through, shift } = log
    const before = Math.min(place + shift, through + 1)
    const events = await this.#store.ask({ ask: 'tail', pid, before, ...page })
    return events.map((event) => placedEvent(event, shift))
  }
}
