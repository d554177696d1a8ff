import type { Hono } from 'hono'
import { withTimeout } from '../base/with-timeout.ts'
import type { Env } from './app.ts'
import type { Served } from './served.ts'

/** How long the store may take to answer. More than the keeper may, so that each is blamed for itself. */
const MAX_ANSWER_MS = 5_000

/** Liveness and readiness for supervisors and load balancers, and so without a token. */
export function addHealth(
  app: Hono<Env>,
  reeve: Pick<Served, 'readiness'>,
  { maxAnswerMs = MAX_ANSWER_MS }: { readonly maxAnswerMs?: number } = {},
): void {
  const readiness = new ReadinessProbe(reeve, maxAnswerMs)
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', async (context) => {
    const parts = await readiness.parts()
    const isReady = Object.values(parts).every((state) => state === 'ok')
    return context.json({ status: isReady ? 'ready' : 'not_ready', ...parts }, isReady ? 200 : 503)
  })
}

interface Parts {
  readonly store: 'ok' | 'unwritable' | 'unavailable'
  readonly keeper: 'ok' | 'unavailable' | 'unknown'
}

/** The reason is in answers that need a token. */
const NO_STORE: Parts = { store: 'unavailable', keeper: 'unknown' }

class ReadinessProbe {
  readonly #reeve: Pick<Served, 'readiness'>
  readonly #maxAnswerMs: number
  #asked: Promise<Parts> | undefined

  constructor(reeve: Pick<Served, 'readiness'>, maxAnswerMs: number) {
    this.#reeve = reeve
    this.#maxAnswerMs = maxAnswerMs
  }

  /** At most one status call is pending: a store that hangs must not collect one with every probe. */
  async parts(): Promise<Parts> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined
    })
    return withTimeout(this.#asked, this.#maxAnswerMs, NO_STORE)
  }

  async #ask(): Promise<Parts> {
    try {
      const { isStoreWritable, isKeeperAvailable } = await this.#reeve.readiness()
      return {
        store: isStoreWritable ? 'ok' : 'unwritable',
        keeper: isKeeperAvailable ? 'ok' : 'unavailable',
      }
    } catch {
      return NO_STORE
    }
  }
}
