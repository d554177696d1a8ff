import { Hono } from 'hono'
import type { OutputOf } from 'reeve'
import { expect, test } from 'vitest'
import type { Env } from '../../src/server/app.ts'
import { addHealth } from '../../src/server/health.ts'

const STATUS = {
  daemon: { id: 'k_1', osPid: 7 },
  live: 0,
  ended: { count: 0, oldestAt: null, maxAgeMs: null, maxCount: null, lastPrune: null },
  storage: { storeBytes: null, outputBytes: null },
  unreadable: [],
  troubles: [],
}
const boot = { checked: [], adopted: [], rerun: [], completed: [], abandoned: [], left: [] }

function healthOf(status: () => Promise<OutputOf<'status'>>) {
  const app = new Hono<Env>()
  addHealth(app, { status }, { maxStatusMs: 20 })
  return async (path: string) => {
    const answer = await app.request(path)
    return [answer.status, await answer.json()]
  }
}

test('a daemon is ready while its store answers, and its keeper is available', async () => {
  let available = true
  const get = healthOf(async () => ({ ...STATUS, boot, keeper: { id: 'k_2', osPid: 8, available } }))
  expect(await get('/readyz')).toEqual([200, { status: 'queued', store: 'ok', keeper: 'ok' }])
  available = false
  expect(await get('/readyz')).toEqual([503, { status: 'not_ready', store: 'ok', keeper: 'unavailable' }])
})

test('a store that hangs is not ready, is asked once, and is ready again when it answers', async () => {
  const answer = Promise.withResolvers<OutputOf<'status'>>()
  let asked = 0
  const get = healthOf(() => {
    asked += 1
    return answer.promise
  })
  const notReady = [503, { status: 'not_ready', store: 'unavailable', keeper: 'unknown' }]
  expect(await get('/readyz')).toEqual(notReady)
  expect(await get('/readyz')).toEqual(notReady)
  expect(asked).toBe(1)
  expect(await get('/healthz')).toEqual([200, { status: 'ok' }])
  answer.resolve({ ...STATUS, boot, keeper: null })
  await answer.promise
  await expect.poll(() => get('/readyz')).toEqual([200, { status: 'queued', store: 'ok', keeper: 'ok' }])
})
