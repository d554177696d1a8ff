import { join } from 'node:path'
import { Hono } from 'hono'
import { embed } from 'reeve'
import { expect, test } from 'vitest'
import type { Env } from '../../src/server/app.ts'
import { addHealth } from '../../src/server/health.ts'
import type { Readiness } from '../../src/server/served.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { tempFolder } from '../temp-folder.ts'

const READY: Readiness = { isStoreWritable: true, isKeeperAvailable: true }

function healthOf(readiness: () => Promise<Readiness>) {
  const app = new Hono<Env>()
  addHealth(app, { readiness }, { maxAnswerMs: 20 })
  return async (path: string) => {
    const answer = await app.request(path)
    return [answer.status, await answer.json()]
  }
}

test('a daemon is ready while its store answers, and its keeper is available', async () => {
  let readiness = READY
  const get = healthOf(async () => readiness)
  expect(await get('/readyz')).toEqual([200, { status: 'ready', store: 'ok', keeper: 'ok' }])
  readiness = { ...READY, isKeeperAvailable: false }
  expect(await get('/readyz')).toEqual([503, { status: 'not_ready', store: 'ok', keeper: 'unavailable' }])
})

test('a store that hangs is not ready, is asked once, and is ready again when it answers', async () => {
  const answer = Promise.withResolvers<Readiness>()
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
  answer.resolve(READY)
  await answer.promise
  await expect.poll(() => get('/readyz')).toEqual([200, { status: 'ready', store: 'ok', keeper: 'ok' }])
})

test('a probe counts no ended processes, however many there are', async () => {
  const store = await openSqlite(join(tempFolder(), 'reeve.db'))
  const asked: string[] = []
  const ask = store.ask.bind(store)
  store.ask = (question) => {
    asked.push(question.ask)
    return ask(question)
  }
  const reeve = await embed({ store })
  try {
    asked.length = 0
    expect(await healthOf(() => reeve.readiness())('/readyz')).toEqual([
      200,
      { status: 'ready', store: 'ok', keeper: 'ok' },
    ])
    // A sweep of the kernel may ask at the same time. `storage` counts the ended processes.
    expect(asked).toContain('activity')
    expect(asked).not.toContain('storage')
  } finally {
    await reeve.close()
    await store.close()
  }
})
