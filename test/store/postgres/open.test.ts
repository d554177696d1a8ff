import { expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { announce, append, newPid, register } from '../plans.ts'
import { administer, freshSchema, url } from './fresh-schema.ts'

test('a schema that is newer than the code is refused, and not changed', async () => {
  const { schema, open } = freshSchema()
  await (await open()).close()
  await administer(`insert into "${schema}".migration values (99, now())`)
  await expect(openPostgres(url, { schema })).rejects.toMatchObject({ code: 'schema_too_new' })
})

test('stores that open at the same time create one schema', async () => {
  const { open } = freshSchema()
  const stores = await Promise.all([open(), open(), open(), open()])
  expect(await stores[3]?.ask({ ask: 'secret' })).toBe(await stores[0]?.ask({ ask: 'secret' }))
})

test('the name of a schema is quoted, and a name that cannot be quoted is refused', async () => {
  const schema = `odd"; drop schema public; -- ' ${crypto.randomUUID().slice(0, 8)}`
  onTestFinished(
    async () => void (await administer(`drop schema if exists "${schema.replaceAll('"', '""')}" cascade`)),
  )
  const store = await openPostgres(url, { schema })
  const pid = newPid()
  expect(await store.write(register(pid))).toBe('registered')
  await store.close()
  await expect(openPostgres(url, { schema: 'a$body$b' })).rejects.toMatchObject({ code: 'invalid_input' })
})

test('the error for a missing database names it, and says what to do', async () => {
  const missing = new URL(url)
  missing.pathname = '/nowhere'
  await expect(openPostgres(missing.href)).rejects.toMatchObject({
    code: 'store_unavailable',
    remedy: /Create the database/,
  })
  await expect(openPostgres('postgres://127.0.0.1:1/none')).rejects.toMatchObject({
    code: 'store_unavailable',
  })
})

test('durability is read from the server', async () => {
  const store = await freshSchema().open()
  expect(store.durability).toEqual({
    store: 'postgres',
    survivesPowerCut: true,
    settings: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  })
})

test('a store that closes finishes earlier requests, and rejects later ones', async () => {
  const store = await freshSchema().open()
  const pid = newPid()
  const asked = store.write(register(pid))
  const closing = store.close()
  await expect(store.write(append(pid, 1))).rejects.toMatchObject({ code: 'closed' })
  expect(await asked).toBe('registered')
  await closing
  await expect(store.ask({ ask: 'process', pid })).rejects.toMatchObject({ code: 'closed' })
})

test('holders expire by the clock of the server', async () => {
  const clock = {
    now: () => 0,
    after: (ms: number, task: () => void) => {
      const timer = setTimeout(task, ms)
      return () => clearTimeout(timer)
    },
  }
  const store = await freshSchema().open({ clock })
  await store.write(announce('h_1', 60_000))
  const row = await store.ask({ ask: 'holder', id: 'h_1' })
  expect(row).toMatchObject({ id: 'h_1', role: 'kernel', expired: false })
  expect(Math.abs((row?.renewedAt ?? 0) - Date.now())).toBeLessThan(60_000)
  await store.write(announce('h_1', 0))
  expect(await store.ask({ ask: 'holders' })).toMatchObject([{ id: 'h_1', expired: true }])
})
