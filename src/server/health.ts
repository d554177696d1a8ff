import type { Hono } from 'hono'
import type { Env } from './app.ts'
import type { Served } from './served.ts'

/** How long the store may take to answer. More than the keeper may, so that each is blamed for itself. */
const MAX_STATUS_MS = 5_000

/** Whether the daemon lives, and whether it can work: for those who start and watch it, so without a token. */
export function addHealth(
  app: Hono<Env>,
  reeve: Pick<Served, 'status'>,
  { maxStatusMs = MAX_STATUS_MS }: { readonly maxStatusMs?: number } = {},
): void {
  const readiness = new Readiness(reeve, maxStatusMs)
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

/** Why is in the answers to those who have a token. */
const NO_STORE: Parts = { store: 'unavailable', keeper: 'unknown' }

class Readiness {
  readonly #reeve: Pick<Served, 'status'>
  readonly #maxStatusMs: number
  #asked: Promise<Parts> | undefined

  constructor(reeve: Pick<Served, 'status'>, maxStatusMs: number) {
    this.#reeve = reeve
    this.#maxStatusMs = maxStatusMs
  }

  /** At most one question is under way: a store that hangs must not collect one with every probe. */
  async parts(): Promise<Parts> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Parts>((resolve) => {
      timer = setTimeout(resolve, this.#maxStatusMs, NO_STORE)
    })
    try {
      return await Promise.race([this.#asked, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async #ask(): Promise<Parts> {
    try {
      const { keeper, troubles } = await this.#reeve.status()
      const isWritable = troubles.every(({ code }) => code !== 'store_unwritable')
      return {
        store: isWritable ? 'ok' : 'unwritable',
        keeper: keeper === null || keeper.available ? 'ok' : 'unavailable',
      }
    } catch {
      return NO_STORE
    }
  }
}
