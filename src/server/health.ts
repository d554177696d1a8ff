import type { Hono } from 'hono'
import type { Env } from './app.ts'
import type { Served } from './served.ts'

/** Whether the daemon lives, and whether it can work: for those who start and watch it, so without a token. */
export function addHealth(app: Hono<Env>, reeve: Served): void {
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', async (context) => {
    const parts = await readiness(reeve)
    const isReady = Object.values(parts).every((state) => state === 'ok')
    return context.json({ status: isReady ? 'ready' : 'not_ready', ...parts }, isReady ? 200 : 503)
  })
}

async function readiness(reeve: Served): Promise<{ store: string; keeper: string }> {
  try {
    const { keeper, troubles } = await reeve.status()
    const isWritable = troubles.every(({ code }) => code !== 'store_unwritable')
    return {
      store: isWritable ? 'ok' : 'unwritable',
      keeper: keeper === null || keeper.available ? 'ok' : 'unavailable',
    }
  } catch {
    // Why is in the answers to those who have a token.
    return { store: 'unavailable', keeper: 'unknown' }
  }
}
