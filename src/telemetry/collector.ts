/** How long a collector may take for one request. */
const ANSWER_MS = 10_000

/** What came of sending: `refused` will not be taken later either, `away` may be. */
export type Sent = { readonly sent: 'taken' } | { readonly sent: 'refused' | 'away'; readonly why: string }

/** Statuses after which OTLP says to try again. */
const PASSING = new Set([408, 429, 502, 503, 504])

/** Where OTLP is sent: `<endpoint>/v1/traces` and `<endpoint>/v1/metrics`. */
export class Collector {
  readonly #endpoint: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(endpoint: string, headers: Readonly<Record<string, string>>) {
    this.#endpoint = endpoint.replace(/\/+$/, '')
    this.#headers = headers
  }

  async send(what: 'traces' | 'metrics', document: object, signal: AbortSignal): Promise<Sent> {
    try {
      const response = await fetch(`${this.#endpoint}/v1/${what}`, {
        method: 'POST',
        headers: { ...this.#headers, 'content-type': 'application/json' },
        body: JSON.stringify(document),
        // A redirect would take the headers, and what is in them, to somebody else.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      })
      const text = (await response.text()).slice(0, MAX_SAID_CHARS)
      if (response.ok) return { sent: 'taken' }
      const why = `${response.status} ${text}`.trim()
      return { sent: PASSING.has(response.status) ? 'away' : 'refused', why }
    } catch (error) {
      return { sent: 'away', why: reasonOf(error) }
    }
  }
}

const MAX_SAID_CHARS = 300

/** `fetch` says only that it failed, and has the reason behind it. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message ?? String(error)
}
