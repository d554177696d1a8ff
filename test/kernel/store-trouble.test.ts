import { closeSync, existsSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { embed } from 'reeve'
import { type SimulatedClock, simulatedClock } from 'reeve/testing'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { snapshotOf } from '../../src/testing/conformance/sound.ts'
import { failing } from '../failing-transaction.ts'
import { tempFolder, tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

test('an error about a store that cannot be opened says why and what to do, and no file is left behind', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'a-file'), 'x')
  writeFileSync(join(folder, 'no-database'), 'this is some text and no database. '.repeat(200))
  const newer = new DatabaseSync(join(folder, 'newer.db'))
  newer.exec('pragma user_version = 99')
  newer.close()
  const before = readdirSync(folder)
  const cases: readonly (readonly [code: string, file: string])[] = [
    ['store_unavailable', folder],
    ['store_unavailable', join(folder, 'a-file', 'reeve.db')],
    ['store_unavailable', join(folder, 'no-such-folder', 'reeve.db')],
    ['store_unavailable', ':memory:'],
    ['store_corrupt', join(folder, 'no-database')],
    ['schema_too_new', join(folder, 'newer.db')],
    // No file can be made in sysfs, not even by root.
    ['store_read_only', '/sys/reeve.db'],
  ]
  for (const [code, store] of cases)
    await expect(embed({ store }), store).rejects.toMatchObject({
      name: 'StoreError',
      code,
      message: expect.stringContaining(store),
      remedy: expect.stringMatching(/./),
    })
  await expect(embed({ store: folder })).rejects.toThrow('is a folder, and a store is a file')
  await expect(embed({ store: join(folder, 'no-database') })).rejects.toThrow('is no SQLite database')
  expect(readdirSync(folder)).toEqual(before)
})

test('invalid options are refused, and the store is released', async () => {
  const file = tempStore()
  const impatient = embed({ store: file, times: { renewMs: 1_000, ttlMs: 2_000 } })
  await expect(impatient).rejects.toMatchObject({ code: 'invalid_input' })
  expect(readdirSync(`${file}-holders`), 'its lock is gone').toEqual([])
  expect(existsSync(`${file}-wal`), 'the last connection has been closed').toBe(false)
  const reeve = await embed({ store: file })
  await reeve.close()
})

test.each([
  ['a full disk', 13, 'store_full', 'store_full'],
  ['a file that became read-only', 8, 'store_read_only', 'store_read_only'],
  ['a disk that fails', 10, 'store_unavailable', 'outcome_unknown'],
])(
  '%s is told as such, nothing is changed, and the kernel goes on when it is over',
  async (_, errcode, writing, committing) => {
    const faults: { at?: 'apply' | 'commit' } = {}
    const store = await openSqlite(tempStore(), { wrap: (inner) => failing(inner, faults, errcode) })
    const reeve = await embed({ store, onTrouble: () => {} })
    await reeve.spawn({ ...OUTSIDE, name: 'before' })
    const before = await snapshotOf(store)
    for (const [at, code] of [
      ['apply', writing],
      ['commit', committing],
    ] as const) {
      faults.at = at
      const failed = await Promise.allSettled([reeve.spawn(OUTSIDE), reeve.openSession({ session: 's1' })])
      expect((await reeve.status()).troubles).toMatchObject([{ code: 'store_unwritable' }])
      for (const one of failed)
        expect(one).toMatchObject({
          reason: { name: 'StoreError', code, remedy: expect.stringMatching(/./) },
        })
      delete faults.at
      expect(await snapshotOf(store)).toEqual(before)
    }
    expect((await reeve.spawn({ ...OUTSIDE, name: 'after' })).type).toBe('registered')
    expect((await reeve.status()).troubles).toEqual([])
    await reeve.close()
    await store.close()
  },
)

test('the outcome of a tool that ends on a full disk is written when there is space again', async () => {
  const faults: { at?: 'apply' | 'commit' } = {}
  const store = await openSqlite(tempStore(), { wrap: (inner) => failing(inner, faults, 13) })
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const full = Promise.withResolvers<void>()
  const reeve = await embed({
    store,
    tools: {
      async work() {
        begun.resolve()
        await go.promise
        return 'the result'
      },
    },
    onTrouble: () => full.resolve(),
  })
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'work' } })
  await begun.promise
  faults.at = 'apply'
  go.resolve()
  await full.promise
  expect((await reeve.show({ pid: record.pid })).status).toBe('running')
  delete faults.at
  const ended = await reeve.wait({ pid: record.pid })
  expect(ended.type === 'ended' && ended.record.outcome?.result).toBe('the result')
  await reeve.close()
  await store.close()
})

test('a call waits for a file that another process keeps locked, and then fails', async () => {
  const file = tempStore()
  const clock = simulatedClock()
  const store = await openSqlite(file, { clock })
  const reeve = await embed({ store })
  const other = new DatabaseSync(file)

  other.exec('begin immediate')
  const patient = reeve.spawn({ ...OUTSIDE, name: 'patient' })
  await pass(clock, 1_000)
  other.exec('rollback')
  expect((await passUntil(clock, patient)).type).toBe('registered')

  other.exec('begin immediate')
  const before = await snapshotOf(store)
  const denied = await passUntil(clock, Promise.allSettled([reeve.spawn(OUTSIDE), reeve.spawn(OUTSIDE)]))
  for (const one of denied)
    expect(one).toMatchObject({ reason: { code: 'store_busy', remedy: expect.stringMatching(/./) } })
  expect((await reeve.status()).troubles).toEqual([])
  expect(await snapshotOf(store)).toEqual(before)
  other.exec('rollback')
  expect((await passUntil(clock, reeve.spawn({ ...OUTSIDE, name: 'after' }))).type).toBe('registered')
  other.close()
  await passUntil(clock, reeve.close())
  await store.close()
})

test('a record that cannot be read does not make the store unwritable', async () => {
  const file = tempStore()
  const reeve = await embed({ store: file, onTrouble: () => {} })
  const { record } = await reeve.spawn(OUTSIDE)
  await reeve.close()
  const db = new DatabaseSync(file)
  db.prepare(`update process set moving = '{broken' where pid = ?`).run(record.pid)
  db.close()
  const again = await embed({ store: file, onTrouble: () => {} })
  await expect(again.spawn({ ...OUTSIDE, parent: record.pid })).rejects.toMatchObject({
    code: 'record_unreadable',
  })
  expect((await again.status()).troubles).toEqual([])
  await again.close()
})

test('a broken page is reported as corruption', async () => {
  const file = tempStore()
  const reeve = await embed({ store: file })
  await reeve.spawnMany({ processes: Array.from({ length: 2_000 }, () => OUTSIDE) })
  await reeve.close()
  const handle = openSync(file, 'r+')
  for (let page = 1; page < 200; page++) writeSync(handle, Buffer.alloc(2_000, 0xee), 0, 2_000, page * 4_096)
  closeSync(handle)
  const attempt = (async () => {
    const again = await embed({ store: file, onTrouble: () => {} })
    try {
      await again.list({ limit: 1_000 })
    } finally {
      await again.close().catch(() => {})
    }
  })()
  await expect(attempt).rejects.toMatchObject({ code: 'store_corrupt', remedy: expect.stringMatching(/./) })
})

test('after the close every call says that the kernel is closed', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn(OUTSIDE)
  const waiting = reeve.wait({ pid: record.pid })
  waiting.catch(() => {})
  await reeve.close()
  await reeve.close()
  for (const act of [reeve.spawn(OUTSIDE), reeve.show({ pid: record.pid }), reeve.list({})])
    await expect(act).rejects.toMatchObject({ code: 'closed', remedy: expect.stringMatching(/./) })
})

/** Fails as SQLite would, at the point that is set. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    clock.advance(5)
  }
}

/** Lets time pass until the promise is settled. */
async function passUntil<Thing>(clock: SimulatedClock, promise: Promise<Thing>): Promise<Thing> {
  let over = false
  const done = promise.finally(() => {
    over = true
  })
  done.catch(() => {})
  while (!over) await pass(clock, 5)
  return done
}
