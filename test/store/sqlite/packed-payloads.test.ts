import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { tempStore } from '../../temp-folder.ts'
import { append, newPid, register } from '../plans.ts'

const LONG = { text: 'A line of a file, as a tool returns it: ä, 漢, 🙂.\n'.repeat(200) }

async function opened() {
  const file = tempStore()
  const store = await openSqlite(file)
  onTestFinished(() => store.close())
  const run = (sql: string, ...values: readonly (string | Uint8Array | null)[]) => {
    const db = new DatabaseSync(file, { timeout: 10_000 })
    const rows = db.prepare(sql).all(...values)
    db.close()
    return rows.map((row) => ({ ...row }))
  }
  return { store, run }
}

const SIZES = 'select length(payload) as plain, length(packed) as packed from event order by position'

test('a long payload is compressed, and read as it was given', async () => {
  const { store, run } = await opened()
  const pid = newPid()
  await store.write(register(pid))
  await store.write(append(pid, LONG, { replayKey: 'long' }))
  await store.write(append(pid, { text: 'short' }))
  const [, long, short] = run(SIZES)
  expect(long?.['plain']).toBe(0)
  expect(Number(long?.['packed'])).toBeLessThan(1_000)
  expect(short).toEqual({ plain: 16, packed: null })
  const event = { pid, seq: 2, payload: LONG }
  expect(await store.ask({ ask: 'eventAt', pid, seq: 2 })).toMatchObject(event)
  expect(await store.ask({ ask: 'event', pid, replayKey: 'long' })).toMatchObject(event)
  expect(await store.ask({ ask: 'events', pid, after: 1, limit: 9 })).toMatchObject([event, { seq: 3 }])
  expect(await store.ask({ ask: 'events', pid, after: 1, limit: 9, bytes: 2_000 })).toMatchObject([event])
  expect(await store.ask({ ask: 'tail', pid, limit: 2 })).toMatchObject([event, { seq: 3 }])
  expect(await store.ask({ ask: 'changes', after: 1, limit: 1 })).toMatchObject({ events: [event] })
})

test('a long registration is compressed, and read with its row', async () => {
  const { store, run } = await opened()
  const pid = newPid()
  const spec = { workflow: 'publish', input: LONG }
  await store.write(register(pid, { spec }))
  expect(run(SIZES)[0]).toMatchObject({ plain: 0 })
  const filter = { kind: ['workflow'] } as const
  expect(await store.ask({ ask: 'process', pid })).toMatchObject({ record: { spec } })
  const listed = await store.ask({ ask: 'processes', filter, after: null, limit: 9 })
  expect(listed.items).toMatchObject([{ record: { spec } }])
})

test('a long payload of an earlier version is read', async () => {
  const { store, run } = await opened()
  const pid = newPid()
  await store.write(register(pid))
  await store.write(append(pid, LONG))
  run('update event set payload = ?, packed = null where seq = 2', JSON.stringify(LONG))
  expect(await store.ask({ ask: 'eventAt', pid, seq: 2 })).toMatchObject({ payload: LONG })
})

test('a process whose compressed registration is damaged is unreadable, and the others go on', async () => {
  const { store, run } = await opened()
  const [damaged, sound] = [newPid(), newPid()]
  await store.write(register(damaged, { spec: { workflow: 'publish', input: LONG } }))
  await store.write(register(sound))
  run('update event set packed = ? where packed is not null', new Uint8Array([1, 2, 3]))
  const listed = await store.ask({ ask: 'processes', filter: {}, after: null, limit: 9 })
  expect(listed.items.map(({ record }) => record.pid)).toEqual([sound])
  expect(await store.ask({ ask: 'unreadable' })).toMatchObject([{ pid: damaged }])
})
