import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../src/store/contract.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { osProcess, signalOne } from '../../command/os-processes.ts'
import { startPostgres } from '../../postgres-server.ts'
import { quickFolder } from '../../quick-folder.ts'
import { append, newPid, register } from '../plans.ts'
import { freshSchema, url } from './fresh-schema.ts'

test('a commit whose connection is killed happens once, and is acknowledged once', {
  timeout: 120_000,
}, async () => {
  const { schema, open } = freshSchema()
  const stores = await Promise.all([open(), open()])
  const admin = postgres(url, { max: 1 })
  onTestFinished(() => admin.end())
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
  const server = await startPostgres(quickFolder)
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
  const server = await startPostgres(quickFolder)
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
  const server = await startPostgres(quickFolder)
  const store = await openPostgres(server.url, { reachMs: 2_000 })
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

/** One worker per store. Each appends 0, 1, 2 … to its own process until it is stopped. */
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
