import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

type Attributes = Readonly<Record<string, string | number | boolean>>

export interface ToldSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[]
  readonly status: { readonly code: number; readonly message?: string }
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly droppedEventsCount: number
}

interface Request {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** A collector on loopback that stores all requests. `answer` sets the status of its responses. */
export class TestCollector {
  readonly requests: Request[] = []
  /** A status, or never. */
  answer: (path: string) => number | 'never' = () => 200
  readonly #server = createServer((request, response) => void this.#take(request, response))
  #port = 0
  #heard = Promise.withResolvers<void>()

  static async open(port = 0): Promise<TestCollector> {
    const collector = new TestCollector()
    await collector.listen(port)
    onTestFinished(() => collector.close())
    return collector
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async listen(port = this.#port): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Makes it unavailable; `listen` brings it back. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Every accepted span, in order of arrival. */
  get spans(): ToldSpan[] {
    return this.#documents('/v1/traces').flatMap(({ resourceSpans }) =>
      (resourceSpans as Scoped[]).flatMap(({ scopeSpans = [] }) =>
        scopeSpans.flatMap(({ spans }) => spans.map(readable)),
      ),
    )
  }

  span(name: string): ToldSpan | undefined {
    return this.spans.find(({ attributes }) => attributes['reeve.name'] === name)
  }

  /** The last values of a metric, by their attributes as text. */
  metric(name: string): Record<string, number> {
    const all = this.#documents('/v1/metrics').flatMap(({ resourceMetrics }) =>
      (resourceMetrics as Scoped[]).flatMap(({ scopeMetrics = [] }) =>
        scopeMetrics.flatMap(({ metrics }) => metrics),
      ),
    )
    const found = all.findLast((metric) => metric.name === name)
    const { dataPoints = [] } = found?.sum ?? found?.gauge ?? {}
    return Object.fromEntries(
      dataPoints.map(({ attributes, asInt }) => [Object.values(plain(attributes)).join(' '), Number(asInt)]),
    )
  }

  async until<Seen>(look: () => Seen): Promise<NonNullable<Seen>> {
    while (true) {
      const more = this.#heard.promise
      const seen = look()
      if (seen !== null && seen !== undefined && seen !== false) return seen
      await more
    }
  }

  /** Waits for a whole round from now on: everything before it is exported, and the position is saved. */
  async nextRound(): Promise<void> {
    const count = () => this.requests.filter(({ path }) => path === '/v1/metrics').length
    const before = count()
    await this.until(() => count() >= before + 2)
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { url: path = '', headers } = request
    const status = this.answer(path)
    if (status === 200) this.requests.push({ path, headers, text: Buffer.concat(pieces).toString() })
    if (status !== 'never') response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    this.#heard.resolve()
    this.#heard = Promise.withResolvers<void>()
  }

  #documents(path: string): Record<string, unknown>[] {
    return this.requests
      .filter((request) => request.path === path)
      .map(({ text }) => JSON.parse(text) as Record<string, unknown>)
  }
}

interface Pair {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly intValue?: string
    readonly boolValue?: boolean
    readonly doubleValue?: number
  }
}
interface Scoped {
  readonly resource: { readonly attributes: readonly Pair[] }
  readonly scopeSpans?: readonly { readonly spans: readonly Raw[] }[]
  readonly scopeMetrics?: readonly { readonly metrics: readonly RawMetric[] }[]
}
interface Points {
  readonly dataPoints?: readonly { readonly attributes: readonly Pair[]; readonly asInt: string }[]
}
interface RawMetric {
  readonly name: string
  readonly sum?: Points
  readonly gauge?: Points
}
type Raw = Omit<ToldSpan, 'attributes' | 'events'> & {
  readonly attributes: readonly Pair[]
  readonly events: readonly { readonly name: string; readonly attributes: readonly Pair[] }[]
}

function readable(span: Raw): ToldSpan {
  const events = span.events.map((event) => ({ ...event, attributes: plain(event.attributes) }))
  return { ...span, events, attributes: plain(span.attributes) }
}

export function plain(pairs: readonly Pair[]): Attributes {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const { stringValue, intValue, boolValue, doubleValue } = value
      return [
        key,
        stringValue ?? (intValue === undefined ? (boolValue ?? doubleValue ?? '') : Number(intValue)),
      ]
    }),
  )
}
