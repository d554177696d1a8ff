import { ReeveError } from '../core/errors.ts'
import type { TypedEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { AGENT_SPAN_EVENTS, AgentSpans } from './agent-spans.ts'
import type { PositionFile } from './position-file.ts'
import { MAX_EVENTS, type Span, spanOf, traceIdOf } from './span.ts'

const PAGE = 1_000
/** Spans per request. Spans that are not sent yet are read from the feed. */
const BATCH = 64
/** After a long time without a collector, older spans are skipped. */
const MAX_SPAN_AGE_MS = 24 * 60 * 60 * 1_000

/** False if the spans have to be sent again later; true if they were accepted, or never will be. */
type Send = (spans: readonly Span[]) => Promise<boolean>

/**
 * Exports each ended process, turn and model call as one span, in the order of the feed. The feed position advances when a batch was accepted: so
 * no span is buffered in memory while the collector is unavailable, and the next daemon continues where this one stopped.
 */
export class EndedSpans {
  readonly #reeve: ReeveVerbs
  readonly #agents: AgentSpans
  readonly #file: PositionFile
  #position: number
  #isSaved: boolean

  /** `now` is the current position of the feed. Without a saved position, the export begins there. */
  constructor(reeve: ReeveVerbs, file: PositionFile, now: number) {
    this.#reeve = reeve
    this.#agents = new AgentSpans(reeve, async (record) => traceIdOf(record, await this.#rootOf(record)))
    this.#file = file
    const saved = file.read()
    this.#isSaved = saved !== null && saved <= now
    this.#position = this.#isSaved ? (saved ?? now) : now
  }

  /** Exports what ended up to this position. */
  async export(upTo: number, send: Send, now: number): Promise<void> {
    if (!this.#isSaved) this.#save()
    while (this.#position < upTo) {
      const page = await this.#page()
      const ends = page.events.filter(({ type, at }) => isEnd(type) && now - at < MAX_SPAN_AGE_MS)
      for (let at = 0; at < ends.length; at += BATCH) {
        const batch = ends.slice(at, at + BATCH)
        const spans = (await Promise.all(batch.map((event) => this.#spansFor(event)))).flat()
        for (let sent = 0; sent < spans.length; sent += BATCH)
          if (!(await send(spans.slice(sent, sent + BATCH)))) return
        this.#advance(batch.at(-1)?.position ?? this.#position)
      }
      this.#advance(Math.max(page.position, this.#position))
      if (page.events.length === 0) return
    }
  }

  async #page(): Promise<{ events: readonly TypedEvent[]; position: number }> {
    try {
      return await this.#reeve.changes({ after: this.#position, limit: PAGE })
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'behind_pruned') throw error
      // The processes of these events are pruned, too.
      const { prunedThrough } = error.details as { prunedThrough: number }
      this.#advance(prunedThrough)
      return this.#reeve.changes({ after: prunedThrough, prunedThrough, limit: PAGE })
    }
  }

  /** None if the process was pruned meanwhile. */
  async #spansFor(event: TypedEvent): Promise<readonly Span[]> {
    try {
      return event.type === 'ended' ? await this.#processSpan(event) : await this.#agents.spansFor(event)
    } catch (error) {
      if (error instanceof ReeveError && GONE.has(error.code)) return []
      throw error
    }
  }

  async #processSpan({ pid }: TypedEvent): Promise<readonly Span[]> {
    const record = await this.#reeve.show({ pid })
    if (record.outcome === null) return []
    const { events, count } = await this.#reeve.events({ pid, tail: MAX_EVENTS + 2 })
    return [spanOf(record, record.outcome, events, count, await this.#rootOf(record))]
  }

  /** The root of the tree: its caller may have named a trace. If the root is gone, the trace is unknown. */
  async #rootOf(record: ProcessRecord): Promise<Pick<ProcessRecord, 'causedBy'>> {
    if (record.root === record.pid) return record
    try {
      return await this.#reeve.show({ pid: record.root })
    } catch (error) {
      if (error instanceof ReeveError && GONE.has(error.code)) return { causedBy: null }
      throw error
    }
  }

  #advance(position: number): void {
    if (position === this.#position) return
    this.#position = position
    this.#save()
  }

  #save(): void {
    this.#file.write(this.#position)
    this.#isSaved = true
  }
}

function isEnd(type: string): boolean {
  return type === 'ended' || AGENT_SPAN_EVENTS.has(type)
}

const GONE = new Set(['unknown_pid', 'pruned_pid'])
