import type { Reeve } from '../verbs/reeve.ts'
import { Census } from './census.ts'
import { Collector, type Sent } from './collector.ts'
import { EndedSpans } from './ended-spans.ts'
import { type Counted, metricsOf } from './metrics.ts'
import { metricsDocument, type Teller, tracesDocument } from './otlp.ts'
import { PlaceFile } from './place-file.ts'

export interface TelemetryOptions {
  readonly reeve: Reeve & { position(): number }
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly intervalMs: number
  readonly teller: Teller
  /** Where it is kept how far the feed has been told of. */
  readonly place: string
  /** What the doors have counted. */
  served(): Pick<Counted, 'requests' | 'connections'>
  readonly log: {
    info(facts: object, words: string): void
    warn(facts: object, words: string): void
  }
}

/** While a collector is away it is asked less and less often. */
const MAX_MS = 60_000
/** A stop waits this long for the last words, and no longer. */
const LAST_WORDS_MS = 1_000

/**
 * Tells an OpenTelemetry collector of processes that have ended and of what the daemon counts, a round at a time, beside
 * everything else: nothing waits for it, and a collector that is away costs a request now and then.
 */
export class Telemetry {
  readonly #options: TelemetryOptions
  readonly #collector: Collector
  readonly #spans: EndedSpans
  readonly #census: Census
  readonly #startedAt = Date.now()
  readonly #over = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #failures = 0
  /** What was refused the last time. */
  readonly #refused = new Set<string>()

  constructor(options: TelemetryOptions) {
    const { reeve, endpoint, headers, place } = options
    this.#options = options
    this.#collector = new Collector(endpoint, headers)
    const now = reeve.position()
    this.#spans = new EndedSpans(reeve, new PlaceFile(place), now)
    this.#census = new Census(reeve, now)
    this.#next(0)
  }

  /** With what is still to be told, if the collector takes it in a moment. What it does not take the next daemon tells. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const late = setTimeout(() => this.#over.abort(), LAST_WORDS_MS)
    await this.#round
    if (this.#failures === 0) await this.#tell()
    clearTimeout(late)
    this.#over.abort()
  }

  #next(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#tell().then(() => {
        const { intervalMs } = this.#options
        if (!this.#over.signal.aborted)
          this.#next(Math.min(intervalMs * 2 ** this.#failures, Math.max(MAX_MS, intervalMs)))
      })
    }, afterMs)
    this.#timer.unref()
  }

  async #tell(): Promise<void> {
    const { reeve, teller } = this.#options
    const before = this.#failures
    try {
      const upTo = reeve.position()
      await this.#census.count(upTo)
      const now = Date.now()
      const send = async (spans: readonly object[]) => this.#took('traces', tracesDocument(teller, spans))
      await this.#spans.tell(upTo, send, now)
      const metrics = metricsOf(this.#counted(), { startedAt: this.#startedAt, now })
      // One that takes no spans need not be asked twice.
      if (this.#failures === before) await this.#took('metrics', metricsDocument(teller, metrics))
    } catch (error) {
      this.#failed({ err: error }, 'telemetry cannot be gathered')
    }
    if (before > 0 && this.#failures === before) {
      this.#failures = 0
      this.#options.log.info({ endpoint: this.#options.endpoint }, 'the collector takes telemetry again')
    }
  }

  #counted(): Counted {
    const { spawns, ends, outputBytes } = this.#census
    const processes = this.#census.byStatus()
    return {
      ...{ processes, spawns, ends, outputBytes },
      ...this.#options.served(),
      memoryBytes: process.memoryUsage.rss(),
    }
  }

  /** False: try again later. What a collector refuses for good is left out, or nothing would ever follow it. */
  async #took(what: 'traces' | 'metrics', document: object): Promise<boolean> {
    const sent: Sent = await this.#collector.send(what, document, this.#over.signal)
    if (sent.sent === 'taken') {
      this.#refused.delete(what)
      return true
    }
    const facts = { what, why: sent.why, endpoint: this.#options.endpoint }
    if (sent.sent === 'away') {
      this.#failed(facts, 'the collector cannot be reached; telemetry waits')
      return false
    }
    if (!this.#refused.has(what))
      this.#options.log.warn(facts, 'the collector refuses telemetry; it is left out')
    this.#refused.add(what)
    return true
  }

  /** Said once, not in each round. */
  #failed(facts: object, words: string): void {
    if (this.#failures === 0 && !this.#over.signal.aborted) this.#options.log.warn(facts, words)
    this.#failures += 1
  }
}
