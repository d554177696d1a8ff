import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { prune as pruneByKernel } from '../../../src/kernel/prune.ts'
import type { Store } from '../../../src/store/contract.ts'
import { testEdges } from '../../../src/testing/test-edges.ts'
import {
  AT,
  append,
  claim,
  end,
  feed,
  increment,
  newPid,
  prune,
  register,
  registerUnasked,
  release,
} from '../plans.ts'
import { administer, freshSchema, url } from './fresh-schema.ts'

test('a plan sees the changes of earlier plans of the same turn', async () => {
  const store = await freshSchema().open()
  const pid = newPid()
  const answers = await Promise.all([
    store.write(register(pid)),
    store.write(register(pid)),
    store.write(append(pid, 'a', { replayKey: 'k' })),
    store.write(append(pid, 'a', { replayKey: 'k' })),
    store.write(append(pid, 'b')),
    store.write(claim(pid, 'h_1')),
    store.write(claim(pid, 'h_2')),
  ])
  expect(answers).toEqual(['registered', 'existing', 2, 2, 3, 1, 'busy'])
  expect((await feed(store)).map(({ position, seq }) => [position, seq])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ])
})

test('a list in a plan includes the changes of earlier plans of the same turn', async () => {
  const store = await freshSchema().open()
  const [one, two] = [newPid(), newPid()]
  const [, , , pruned] = await Promise.all([
    store.write(register(one)),
    store.write(register(two)),
    store.write(end(one)),
    store.write(prune(0)),
    store.write(append(two, 'still here')),
  ])
  expect(pruned).toEqual([one])
  expect(await store.write(register(one))).toBe('pruned')
  const { events, position, prunedThrough } = await store.ask({ ask: 'changes', after: 0, limit: 9 })
  expect(events.map(({ pid, type }) => [pid, type])).toEqual([
    [two, 'registered'],
    [two, 'note'],
  ])
  expect([position, prunedThrough]).toEqual([4, 3])
  expect(await store.ask({ ask: 'activity', session: null, since: null })).toEqual({ live: 1, newestAt: AT })
})

test('two stores that count on one process lose no update', async () => {
  const { open } = freshSchema()
  const [a, b] = [await open(), await open()]
  const pid = newPid()
  await a.write(register(pid))
  const counting = async (store: Store) => {
    for (let n = 0; n < 100; n++)
      await Promise.all([store.write(increment(pid)), store.write(increment(pid))])
  }
  await Promise.all([counting(a), counting(b)])
  const row = await a.ask({ ask: 'process', pid })
  expect(row?.record.facets['count']).toBe(400)
  expect((await feed(b)).map(({ seq }) => seq)).toEqual(Array.from({ length: 401 }, (_, index) => index + 1))
})

test('twenty registrations of one pid through four stores make one row and no error', async () => {
  const { open } = freshSchema()
  const stores = await Promise.all([open(), open(), open(), open()])
  const pid = newPid()
  const answers = await Promise.all(
    stores.flatMap((store) => Array.from({ length: 5 }, () => store.write(register(pid)))),
  )
  expect(answers.filter((answer) => answer === 'registered')).toHaveLength(1)
  expect(answers.filter((answer) => answer === 'existing')).toHaveLength(19)
})

test('an event that another store wrote with the same replay key is found, not repeated', async () => {
  const { open } = freshSchema()
  const [a, b] = [await open(), await open()]
  const pid = newPid()
  await a.write(register(pid))
  await b.write(append(pid, 'warms the cache of b'))
  expect(await a.write(append(pid, 1, { replayKey: 'k' }))).toBe(3)
  expect(await b.write(append(pid, 1, { replayKey: 'k' }))).toBe(3)
  expect(await a.write(append(pid, 1, { replayKey: 'k' }))).toBe(3)
})

test('a plan refuses on true facts, though another store has changed them', async () => {
  const { open } = freshSchema()
  const [a, b] = [await open(), await open()]
  const pid = newPid()
  await a.write(register(pid))
  expect(await a.write(claim(pid, 'h_a'))).toBe(1)
  expect(await b.write(claim(pid, 'h_b'))).toBe('busy')
  await a.write(release(pid))
  expect(await b.write(claim(pid, 'h_b'))).toBe(2)
})

test('a plan that cannot be stored fails no other plan', async () => {
  const store = await freshSchema().open()
  const pid = newPid()
  await store.write(register(pid))
  const answers = await Promise.allSettled([
    store.write(append(pid, 'a')),
    store.write(append(pid, 'b', { replayKey: 'a NUL \u0000 in a key' })),
    store.write(append(newPid(), 'nowhere')),
    store.write(registerUnasked(pid)),
    store.write(append(pid, 'c')),
  ])
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'rejected'))).toEqual([
    2,
    'rejected',
    'rejected',
    'rejected',
    3,
  ])
  // Not `store_unavailable`: a retry cannot help.
  const [, unstorable] = answers
  expect(unstorable).toMatchObject({ reason: { name: 'ReeveError', code: 'invalid_input' } })
})

test('payloads are read as they were written, with NUL characters', async () => {
  const { open } = freshSchema()
  const store = await open()
  const pid = newPid()
  const payload = {
    'NUL \u0000': 'a\u0000b\u001ec',
    emoji: '🦉 Größe "quoted" \\ {a,b}',
    big: 2 ** 53,
    minus: -0.5,
    z: 1,
    a: [null],
  }
  await store.write(register(pid, { name: 'Käthe {"x"}', spec: { workflow: 'null' }, replyTo: payload }))
  await store.write(append(pid, payload, { type: 'count', replayKey: 'ключ "{},\\' }))
  const read = await open()
  const [, event] = await read.ask({ ask: 'events', pid, after: 0, limit: 9 })
  expect(event?.payload).toEqual(payload)
  expect(event?.replayKey).toBe('ключ "{},\\')
  expect(JSON.stringify(event?.payload)).toBe(JSON.stringify(payload))
  const row = await read.ask({ ask: 'process', pid })
  expect([row?.record.name, row?.record.facets['count'], row?.record.replyTo]).toEqual([
    'Käthe {"x"}',
    payload,
    payload,
  ])
})

test('a row that another transaction keeps locked delays only the writes that need it', async () => {
  const { schema, open } = freshSchema()
  const store = await open()
  const [one, other] = [newPid(), newPid()]
  for (const pid of [one, other]) await store.write(register(pid))
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  onTestFinished(() => sql.end())
  await sql.unsafe('begin')
  await sql.unsafe(`select 1 from "${schema}".process where pid = $1 for update`, [one])
  const held = [store.write(append(one, 'a')), store.write(append(one, 'b'))]
  const settled: string[] = []
  for (const write of held) void write.then(() => settled.push('held'))
  // Writes in the same batch and in later ones.
  await store.write(append(other, 'with'))
  for (let count = 0; count < 5; count++) await store.write(append(other, count))
  expect(settled).toEqual([])
  await sql.unsafe('rollback')
  await Promise.all(held)
  expect((await store.ask({ ask: 'process', pid: one }))?.record.revision).toBe(3)
  expect((await store.ask({ ask: 'process', pid: other }))?.record.revision).toBe(7)
})

test('a prune that waited for a transaction keeps the process that the transaction refers to', async () => {
  const { schema, open } = freshSchema()
  const store = await open()
  const [old, restart] = [newPid(), newPid()]
  for (const pid of [old, restart]) await store.write(register(pid))
  await store.write(end(old))
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  onTestFinished(() => sql.end())
  await sql.unsafe('begin')
  await sql.unsafe(`select 1 from "${schema}".process where pid = $1 for no key update`, [old])
  await sql.unsafe(`insert into "${schema}".reference (pid, referrer) values ($1, $2)`, [old, restart])
  const [{ holder } = { holder: 0 }] = await sql.unsafe('select pg_backend_pid() as holder')
  const pruning = pruneByKernel(testEdges(store, {}), { pids: [old] })
  const waiting = () =>
    administer(`select pid from pg_stat_activity where ${holder} = any (pg_blocking_pids(pid))`)
  await expect.poll(async () => (await waiting()).length, { timeout: 30_000 }).toBeGreaterThan(0)
  await sql.unsafe('commit')
  expect(await pruning).toEqual([])
  expect((await store.ask({ ask: 'process', pid: old }))?.record.pid).toBe(old)
})
