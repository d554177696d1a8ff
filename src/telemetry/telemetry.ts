import type { Reeve } from '../verbs/reeve.ts'
import { Collector } from './collector.ts'
import { EndedSpans } from './ended-spans.ts'
import { type Counted, metricsOf } from './metrics.ts'
import { metricsDocument, type Source, tracesDocument } from './otlp.ts'
import { PositionFile } from './position-file.ts'
import { ProcessCounts } from './process-counts.ts'

export interface TelemetryOptions {
  readonly reeve: Reeve & { position(): number }
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly intervalMs: number
  readonly source: Source
  /** The file with the feed position up to which spans were exported. */
  readonly positionFile: string
  /** The counts of the server. */
  served(): Pick<Counted, 'requests' | 'connections'>
  readonly log: {
    info(facts: object, words: string): void
    warn(facts: object, words: string): void
  }
}

/** The maximal backoff while the collector is unavailable. */
const MAX_BACKOFF_MS = 60_000
/** How long a close waits for the last export. */
const MAX_CLOSE_MS = 1_000

/**
 * Exports ended processes and the counts of the daemon to an OpenTelemetry collector, in rounds. Nothing waits for it, and a
 * collector that is unavailable costs a request now and then.
 */
export class Telemetry {
  readonly #options: TelemetryOptions
  readonly #collector: Collector
  readonly #spans: EndedSpans
  readonly #counts: ProcessCounts
  readonly #startedAt = Date.now()
  readonly #over = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #failures = 0
  /** Kinds of documents that the collector rejects, so that each rejection is logged once. */
  readonly #rejected = new Set<string>()

  constructor(options: TelemetryOptions) {
    const { reeve, endpoint, headers, positionFile } = options
    this.#options = options
    this.#collector = new Collector(endpoint, headers)
    const now = reeve.position()
    this.#spans = new EndedSpans(reeve, new PositionFile(positionFile), now)
    this.#counts = new ProcessCounts(reeve, now)
    this.#next(0)
  }

  /** Exports the rest, if the collector accepts it in time. The next daemon exports the spans that were not accepted. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const late = setTimeout(() => this.#over.abort(), MAX_CLOSE_MS)
    await this.#round
    if (this.#failures === 0) await this.#exportRound()
    clearTimeout(late)
    this.#over.abort()
  }

  #next(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#exportRound().then(() => {
        const { intervalMs } = this.#options
        if (!this.#over.signal.aborted)
          this.#next(Math.min(intervalMs * 2 ** this.#failures, Math.max(MAX_BACKOFF_MS, intervalMs)))
      })
    }, afterMs)
    this.#timer.unref()
  }

  async #exportRound(): Promise<void> {
    const { reeve, source } = this.#options
    const before = this.#failures
    try {
      const upTo = reeve.position()
      await this.#counts.count(upTo)
      const now = Date.now()
      const send = async (spans: readonly object[]) => this.#send('traces', tracesDocument(source, spans))
      await this.#spans.export(upTo, send, now)
      const metrics = metricsOf(this.#counted(), { startedAt: this.#startedAt, now })
      // If the spans failed, the metrics would fail, too.
      if (this.#failures === before) await this.#send('metrics', metricsDocument(source, metrics))
    } catch (error) {
      this.#failed({ err: error }, 'telemetry cannot be collected')
    }
    if (before > 0 && this.#failures === before) {
      this.#failures = 0
      this.#options.log.info({ endpoint: this.#options.endpoint }, 'the collector accepts telemetry again')
    }
  }

  #counted(): Counted {
    const { spawns, ends, outputBytes } = this.#counts
    return {
      processes: this.#counts.byStatus(),
      spawns,
      ends,
      outputBytes,
      ...this.#options.served(),
      memoryBytes: process.memoryUsage.rss(),
    }
  }

  /** False: retry later. A document that the collector rejects is dropped: a retry would block everything after it. */
  async #send(what: 'traces' | 'metrics', document: object): Promise<boolean> {
    const answer = await this.#collector.send(what, document, this.#over.signal)
    if (answer.type === 'accepted') {
      this.#rejected.delete(what)
      return true
    }
    const facts = { what, why: answer.why, endpoint: this.#options.endpoint }
    if (answer.type === 'unavailable') {
      this.#failed(facts, 'the collector cannot be reached; telemetry is sent later')
      return false
    }
    if (!this.#rejected.has(what))
      this.#options.log.warn(facts, 'the collector rejects telemetry; it is dropped')
    this.#rejected.add(what)
    return true
  }

  /** Logs the first failure only, not one in each round. */
  #failed(facts: object, words: string): void {
    if (this.#failures === 0 && !this.#over.signal.aborted) this.#options.log.warn(facts, words)
    this.#failures += 1
  }
}
