import { ReeveError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { PlaceFile } from './place-file.ts'
import { MAX_EVENTS, type Span, spanOf } from './span.ts'

const PAGE = 1_000
/** Spans in one request: all that is ever in memory. What has not been sent lies in the feed. */
const BATCH = 64
/** After a long time without a collector its backlog begins here: older spans are of use to nobody. */
const OLDEST_MS = 24 * 60 * 60 * 1_000

/** Tells whether they were taken, or will never be; false: later. */
type Send = (spans: readonly Span[]) => Promise<boolean>

/**
 * The processes that have ended, each as one span, in the order of the feed. The place in the feed goes on when a batch was
 * taken, so that nothing is kept in memory for a collector that is away, and the next daemon goes on where this one stopped.
 */
export class EndedSpans {
  readonly #reeve: ReeveVerbs
  readonly #file: PlaceFile
  #position: number
  #isKept: boolean

  /** `now` is where the feed is: whoever begins tells of what ends from now on. */
  constructor(reeve: ReeveVerbs, file: PlaceFile, now: number) {
    this.#reeve = reeve
    this.#file = file
    const kept = file.read()
    this.#isKept = kept !== null && kept <= now
    this.#position = this.#isKept ? (kept ?? now) : now
  }

  /** All that ended up to here and was not told. */
  async tell(upTo: number, send: Send, now: number): Promise<void> {
    if (!this.#isKept) this.#keep()
    while (this.#position < upTo) {
      const page = await this.#page()
      const ends = page.events.filter(({ type, at }) => type === 'ended' && now - at < OLDEST_MS)
      for (let at = 0; at < ends.length; at += BATCH) {
        const batch = ends.slice(at, at + BATCH)
        const spans = await Promise.all(batch.map((event) => this.#spanFor(event)))
        const known = spans.filter((span) => span !== null)
        if (known.length > 0 && !(await send(known))) return
        this.#reached(batch.at(-1)?.position ?? this.#position)
      }
      this.#reached(Math.max(page.position, this.#position))
      if (page.events.length === 0) return
    }
  }

  async #page(): Promise<{ events: readonly StoredEvent[]; position: number }> {
    try {
      return await this.#reeve.changes({ after: this.#position, limit: PAGE })
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'behind_pruned') throw error
      // Those events are gone, and their processes with them.
      const { prunedThrough } = error.details as { prunedThrough: number }
      this.#reached(prunedThrough)
      return this.#reeve.changes({ after: prunedThrough, prunedThrough, limit: PAGE })
    }
  }

  /** Null if it was pruned meanwhile. */
  async #spanFor({ pid }: StoredEvent): Promise<Span | null> {
    try {
      const record = await this.#reeve.show({ pid })
      if (record.outcome === null) return null
      const { events, count } = await this.#reeve.events({ pid, tail: MAX_EVENTS + 2 })
      return spanOf(record, record.outcome, events, count, await this.#rootOf(record))
    } catch (error) {
      if (error instanceof ReeveError && GONE.has(error.code)) return null
      throw error
    }
  }

  /** Whose caller may have named a trace; one that is gone named none that is known. */
  async #rootOf(record: ProcessRecord): Promise<Pick<ProcessRecord, 'causedBy'>> {
    if (record.root === record.pid) return record
    try {
      return await this.#reeve.show({ pid: record.root })
    } catch (error) {
      if (error instanceof ReeveError && GONE.has(error.code)) return { causedBy: null }
      throw error
    }
  }

  #reached(position: number): void {
    if (position === this.#position) return
    this.#position = position
    this.#keep()
  }

  #keep(): void {
    this.#file.write(this.#position)
    this.#isKept = true
  }
}

const GONE = new Set(['unknown_pid', 'pruned_pid'])
