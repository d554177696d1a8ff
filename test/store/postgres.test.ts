import postgres from 'postgres'
import { afterEach, expect, inject, test, vi } from 'vitest'
import { prune as pruneByKernel } from '../../src/kernel/prune.ts'
import type { Commit, Store } from '../../src/store/contract.ts'
import { openPostgres, type PostgresOptions } from '../../src/store/postgres/open.ts'
import { testEdges } from '../../src/testing/test-edges.ts'
import { osProcess, signalOne } from '../command/os-processes.ts'
import { startPostgres } from '../postgres-server.ts'
import {
  AT,
  announce,
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
} from './plans.ts'

const url = inject('postgresUrl')
const cleanUps: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Opens stores of one fresh schema, which is dropped after the test. */
function freshSchema() {
  const schema = `test ${crypto.randomUUID()}`
  cleanUps.push(() => administer(`drop schema if exists "${schema}" cascade`))
  return {
    schema,
    async open(options: PostgresOptions = {}): Promise<Store> {
      const store = await openPostgres(url, { schema, ...options })
      cleanUps.push(() => store.close())
      return store
    },
  }
}

async function administer(statement: string, at = url): Promise<postgres.RowList<postgres.Row[]>> {
  const sql = postgres(at, { max: 1, onnotice: () => undefined })
  try {
    return await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

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

test('a follower misses nothing and sees nothing twice while four stores write', async () => {
  const { open } = freshSchema()
  const stores = await Promise.all([open(), open(), open(), open()])
  const reader = await open()
  const seen: string[] = []
  let cursor = 0
  let reading = Promise.resolve()
  const follow = () => {
    reading = reading.then(async () => {
      const { events } = await reader.ask({ ask: 'changes', after: cursor, limit: 50 })
      seen.push(...events.map(({ pid, seq }) => `${pid} ${seq}`))
      cursor = events.at(-1)?.position ?? cursor
      if (events.length > 0) follow()
    })
  }
  const unfollow = reader.onCommit(follow)
  const written = await Promise.all(
    stores.flatMap((store) =>
      Array.from({ length: 5 }, async () => {
        const pid = newPid()
        await store.write(register(pid))
        for (let n = 1; n < 100; n++) await store.write(append(pid, n))
        return pid
      }),
    ),
  )
  await expect.poll(() => seen.length).toBe(2000)
  unfollow()
  await reading
  const expected = written.flatMap((pid) => Array.from({ length: 100 }, (_, index) => `${pid} ${index + 1}`))
  expect(seen.toSorted()).toEqual(expected.toSorted())
})

test('own commits are reported with their events, in order; those of another store as a nudge', async () => {
  const { open } = freshSchema()
  const [a, b] = [await open(), await open()]
  const [own, foreign]: [Commit[], Commit[]] = [[], []]
  a.onCommit((commit) => own.push(commit))
  b.onCommit((commit) => foreign.push(commit))
  const pid = newPid()
  await a.write(register(pid))
  await Promise.all([a.write(append(pid, 1)), a.write(append(pid, 2))])
  expect(own.map(({ after, position, events }) => [after, position, events?.map(({ seq }) => seq)])).toEqual([
    [0, 1, [1]],
    [1, 3, [2, 3]],
  ])
  await expect.poll(() => foreign.at(-1)).toEqual({ after: 3, position: 3, events: null })
  expect(foreign.every(({ events }) => events === null)).toBe(true)
})

test('a store that opens amid the commits of another is notified of the last one', async () => {
  // Without the polling that finds lost notifications after a while.
  vi.useFakeTimers({ toFake: ['setInterval'] })
  cleanUps.push(async () => void vi.useRealTimers())
  const { schema, open } = freshSchema()
  const writer = await open()
  const pid = newPid()
  await writer.write(register(pid))
  let position = 0
  writer.onCommit((commit) => (position = commit.position))
  for (let round = 0; round < 40; round++) {
    let isOpen = false
    const opening = openPostgres(url, { schema }).finally(() => (isOpen = true))
    while (!isOpen) await writer.write(increment(pid))
    const other = await opening
    let heard = 0
    other.onCommit((commit) => (heard = Math.max(heard, commit.position)))
    // Earlier commits are read, as every subscriber does.
    const { position: known } = await other.ask({ ask: 'changes', after: Number.MAX_SAFE_INTEGER, limit: 1 })
    if (round % 2 === 0) await writer.write(increment(pid))
    await expect.poll(() => Math.max(heard, known)).toBe(position)
    await other.close()
  }
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
  cleanUps.push(() => administer(`drop schema if exists "${schema.replaceAll('"', '""')}" cascade`))
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

test('a commit whose connection is killed happens once, and is acknowledged once', {
  timeout: 120_000,
}, async () => {
  const { schema, open } = freshSchema()
  const stores = await Promise.all([open(), open()])
  const admin = postgres(url, { max: 1 })
  cleanUps.push(() => admin.end())
  const work = appending(stores.flatMap((store) => [store, store, store, store]))
  for (let kills = 0; kills < 40; kills++) {
    // At a random moment between the next commit and a few commits later.
    await work.acknowledges(1 + ((kills * 7) % 13))
    await admin.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity
      where query like '%"${schema}".commit\\_%' and pid <> pg_backend_pid()`)
  }
  for (const { pid, acknowledged } of await work.stop()) {
    const events = (await stores[0]?.ask({ ask: 'events', pid, after: 1, limit: 100_000 })) ?? []
    expect(events.map(({ payload }) => payload)).toEqual(Array.from({ length: acknowledged }, (_, n) => n))
  }
})

test('a server that restarts amid work loses and doubles no acknowledged write, and the store reconnects', {
  timeout: 120_000,
}, async () => {
  const server = await startPostgres()
  try {
    const stores = await Promise.all([openPostgres(server.url), openPostgres(server.url)])
    const [a, b] = stores
    if (a === undefined || b === undefined) throw new Error('no stores')
    let nudges = 0
    b.onCommit(({ events }) => (nudges += Number(events === null)))
    const work = appending([a, a, a, b, b, b])
    for (let restarts = 0; restarts < 3; restarts++) {
      await work.eachAcknowledges(5)
      await server.restart()
    }
    await work.eachAcknowledges(5)
    const appended = await work.stop()
    const before = nudges
    for (const { pid, acknowledged } of appended) {
      const events = await a.ask({ ask: 'events', pid, after: 1, limit: 100_000 })
      expect(events.map(({ payload }) => payload)).toEqual(Array.from({ length: acknowledged }, (_, n) => n))
    }
    await a.write(register(newPid()))
    await expect.poll(() => nudges).toBeGreaterThan(before)
    await Promise.all(stores.map((store) => store.close()))
  } finally {
    await server.stop()
  }
})

test('a server that disappears during a commit leaves its outcome unknown', {
  timeout: 120_000,
}, async () => {
  const server = await startPostgres()
  const admin = postgres(server.url, { max: 2, onnotice: () => undefined })
  try {
    const store = await openPostgres(server.url, { reachMs: 2_000 })
    const pid = newPid()
    await store.write(register(pid))
    // Every commit takes its position from this row: while it is locked, a commit gets no answer.
    const locked = Promise.withResolvers<void>()
    admin
      .begin(async (sql) => {
        await sql`select from reeve.meta for update`
        locked.resolve()
        await new Promise<never>(() => {})
      })
      .catch(locked.reject)
    await locked.promise
    const written = store.write(append(pid, 1)).catch((error: unknown) => error)
    const committing = osProcess(await backendInCommit(admin))
    // The commit can neither go on nor answer, and the server accepts no connections; then its connection breaks.
    signalOne(committing, 'SIGSTOP')
    signalOne(osProcess(server.osPid()), 'SIGKILL')
    signalOne(committing, 'SIGKILL')
    expect(await written).toMatchObject({ code: 'outcome_unknown' })
    await store.close()
  } finally {
    await admin.end({ timeout: 0 })
    await server.stop()
  }
})

test('a write while the server is unreachable is rejected, and changes nothing', {
  timeout: 120_000,
}, async () => {
  const server = await startPostgres()
  const store = await openPostgres(server.url, { reachMs: 500 })
  const pid = newPid()
  await store.write(register(pid))
  await server.stop()
  await expect(store.ask({ ask: 'holders' })).rejects.toMatchObject({ code: 'store_unavailable' })
  // A plan that has to read first, and one whose facts are cached, so that it goes on to its commit.
  await expect(store.write(register(newPid()))).rejects.toMatchObject({ code: 'store_unavailable' })
  await expect(store.write(append(pid, 1))).rejects.toMatchObject({ code: 'store_unavailable' })
  await store.close()
})

/** The PID of the server process whose commit waits for a lock. */
async function backendInCommit(admin: postgres.Sql): Promise<number> {
  let found = 0
  const look = async () => {
    const [row] = await admin<{ pid: number }[]>`select pid from pg_stat_activity
      where query like '%.commit\\_%' and wait_event_type = 'Lock' and pid <> pg_backend_pid()`
    found = row?.pid ?? 0
    return found
  }
  await expect.poll(look).toBeGreaterThan(0)
  return found
}

/** One worker per store, each of which appends 0, 1, 2 … to its own process until it is stopped. */
function appending(stores: readonly Store[]) {
  const counts = stores.map(() => 0)
  const heard = new Set<() => void>()
  let going = true
  const workers = Promise.all(
    stores.map(async (store, worker) => {
      const pid = newPid()
      await store.write(register(pid))
      let acknowledged = 0
      while (going) {
        // Without a replay key: only the store can prevent a second write.
        await store.write(append(pid, acknowledged))
        counts[worker] = ++acknowledged
        for (const look of [...heard]) look()
      }
      return { pid, acknowledged }
    }),
  )
  /** Rejects as soon as a worker fails. */
  const until = async (condition: () => boolean) => {
    const met = Promise.withResolvers<void>()
    const look = () => {
      if (condition()) met.resolve()
    }
    heard.add(look)
    await Promise.race([met.promise, workers]).finally(() => heard.delete(look))
  }
  const sum = () => counts.reduce((total, count) => total + count, 0)
  return {
    acknowledges(more: number) {
      const wanted = sum() + more
      return until(() => sum() >= wanted)
    },
    eachAcknowledges(more: number) {
      const before = [...counts]
      return until(() => counts.every((count, worker) => count >= (before[worker] ?? 0) + more))
    },
    stop() {
      going = false
      return workers
    },
  }
}

test('a row that another transaction keeps locked delays only the writes that need it', async () => {
  const { schema, open } = freshSchema()
  const store = await open()
  const [one, other] = [newPid(), newPid()]
  for (const pid of [one, other]) await store.write(register(pid))
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  cleanUps.push(() => sql.end())
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
  cleanUps.push(() => sql.end())
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
