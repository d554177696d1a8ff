/** How long a collector may take to answer one request. */
const MAX_ANSWER_MS = 10_000

/** `rejected`: a retry is pointless. `unavailable`: a retry may succeed. */
export type SendAnswer =
  | { readonly type: 'accepted' }
  | { readonly type: 'rejected' | 'unavailable'; readonly why: string }

/** Statuses after which a client retries, by the OTLP specification. */
const RETRYABLE = new Set([408, 429, 502, 503, 504])

/** An OpenTelemetry collector, at `<endpoint>/v1/traces` and `<endpoint>/v1/metrics`. */
export class Collector {
  readonly #endpoint: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(endpoint: string, headers: Readonly<Record<string, string>>) {
    this.#endpoint = endpoint.replace(/\/+$/, '')
    this.#headers = headers
  }

  async send(what: 'traces' | 'metrics', document: object, signal: AbortSignal): Promise<SendAnswer> {
    try {
      const response = await fetch(`${this.#endpoint}/v1/${what}`, {
        method: 'POST',
        headers: { ...this.#headers, 'content-type': 'application/json' },
        body: JSON.stringify(document),
        // A redirect would send the headers, which may hold a key, to another server.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_ANSWER_MS)]),
      })
      const text = (await response.text()).slice(0, MAX_REASON_CHARS)
      if (response.ok) return { type: 'accepted' }
      const why = `${response.status} ${text}`.trim()
      return { type: RETRYABLE.has(response.status) ? 'unavailable' : 'rejected', why }
    } catch (error) {
      return { type: 'unavailable', why: reasonOf(error) }
    }
  }
}

const MAX_REASON_CHARS = 300

/** The message of `fetch` says only that it failed; the cause has the reason. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message ?? String(error)
}
