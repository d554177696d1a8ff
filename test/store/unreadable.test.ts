import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { prune } from '../../src/kernel/prune.ts'
import type { Store } from '../../src/store/contract.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { testEdges } from '../../src/testing/test-edges.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'
import { tempStore } from '../temp-folder.ts'
import { append, claim, end, newPid, register } from './plans.ts'

interface Database {
  open(): Promise<Store>
  /** Replaces the changing half of a record by a text that is not JSON. */
  damage(pid: string): Promise<void>
  /** Replaces the payload of its last event by a text that is not JSON. */
  damageEvent(pid: string): Promise<void>
}

const DATABASES: Readonly<Record<string, () => Database>> = {
  SQLite() {
    const file = tempStore()
    const run = (sql: string, pid: string) => {
      const db = new DatabaseSync(file, { timeout: 10_000 })
      db.prepare(sql).run(pid)
      db.close()
    }
    return {
      open: () => openSqlite(file),
      damage: async (pid) => run(`update process set moving = '{broken' where pid = ?`, pid),
      damageEvent: async (pid) =>
        run(
          `update event set payload = '{broken' where position =
            (select max(position) from event join process on process.id = event.process where pid = ?)`,
          pid,
        ),
    }
  },
  PostgreSQL() {
    const schema = `test ${crypto.randomUUID()}`
    const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined })
    onTestFinished(async () => {
      await sql.unsafe(`drop schema "${schema}" cascade`)
      await sql.end()
    })
    return {
      open: () => openPostgres(inject('postgresUrl'), { schema }),
      damage: async (pid) =>
        void (await sql.unsafe(`update "${schema}".process set moving = '{broken' where pid = $1`, [pid])),
      damageEvent: async (pid) =>
        void (await sql.unsafe(
          `update "${schema}".event set payload = '{broken' where position =
            (select max(position) from "${schema}".event where pid = $1)`,
          [pid],
        )),
    }
  },
}

describe.each(Object.keys(DATABASES))('one unreadable record on %s', (name) => {
  /** Three processes, the second one damaged, and a store with an empty cache. */
  async function damaged(write: (store: Store, pids: readonly string[]) => Promise<void> = async () => {}) {
    const database = DATABASES[name]?.()
    if (database === undefined) throw new Error(name)
    const pids = [newPid(), newPid(), newPid()] as const
    const first = await database.open()
    for (const pid of pids) await first.write(register(pid))
    await write(first, pids)
    await first.close()
    await database.damage(pids[1])
    const store = await database.open()
    onTestFinished(() => store.close())
    return { store, pids, database }
  }

  test('is skipped by lists, and named', async () => {
    const { store, pids } = await damaged()
    const { items, next } = await store.ask({ ask: 'processes', filter: {}, after: null, limit: 10 })
    expect(items.map(({ record }) => record.pid)).toEqual([pids[0], pids[2]])
    expect(next).toBeNull()
    expect(await store.ask({ ask: 'unreadable' })).toEqual([{ pid: pids[1], reason: 'its text is not JSON' }])
  })

  test('fails the plans that need it, and no other plan of the batch', async () => {
    const { store, pids } = await damaged()
    const written = await Promise.allSettled(pids.map((pid) => store.write(append(pid, 'note'))))
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(written[1]).toMatchObject({
      reason: { code: 'record_unreadable', message: expect.stringContaining(pids[1]) },
    })
    await expect(store.ask({ ask: 'process', pid: pids[1] })).rejects.toMatchObject({
      code: 'record_unreadable',
      details: { pid: pids[1] },
    })
    expect((await store.ask({ ask: 'process', pid: pids[2] }))?.record.revision).toBe(2)
  })

  test('is not claimed, and later processes are', async () => {
    const { store, pids } = await damaged()
    const troubles: unknown[] = []
    const { kernel, begun, crash } = await testKernel(store, {
      id: 'k_one',
      serves: [{ kind: 'workflow', targets: null }],
      onTrouble: (error) => troubles.push(error),
    })
    onTestFinished(() => crash())
    const works = await Promise.all([begun(pids[0]), begun(pids[2])])
    expect(works.map(({ record }) => record.pid)).toEqual([pids[0], pids[2]])
    expect(troubles).toMatchObject([{ code: 'record_unreadable', details: { pid: pids[1] } }])
    await kernel.sweep()
    expect(troubles).toHaveLength(1)
  })

  test('is skipped by the recovery of a dead holder, and by the feed', async () => {
    const { store, pids, database } = await damaged(async (first, all) => {
      for (const pid of all) await first.write(claim(pid, 'h_dead'))
    })
    const { items } = await store.ask({ ask: 'held', holder: 'h_dead', after: null, limit: 2 })
    expect(items.map(({ record }) => record.pid)).toEqual([pids[0]])
    await database.damageEvent(pids[0])
    const { events, position } = await store.ask({ ask: 'changes', after: 0, limit: 2 })
    expect(events.map(({ pid }) => pid)).toEqual([pids[1], pids[2]])
    expect(position).toBe(3)
  })

  test('is pruned with the others after its end', async () => {
    const { store, pids } = await damaged(async (first, all) => {
      for (const pid of all) await first.write(end(pid))
    })
    await store.ask({ ask: 'processes', filter: { status: 'any' }, after: null, limit: 10 })
    expect(await unreadableIn(store)).toEqual([pids[1]])
    expect([...(await prune(testEdges(store, {}), { keep: 0 }))].sort()).toEqual([...pids].sort())
    expect(await unreadableIn(store)).toEqual([])
    expect(await store.ask({ ask: 'process', pid: pids[1] })).toBeNull()
  })

  test('is not named any more after another program has pruned it', async () => {
    const { store, pids, database } = await damaged(async (first, all) => {
      for (const pid of all) await first.write(end(pid))
    })
    await expect(store.ask({ ask: 'process', pid: pids[1] })).rejects.toMatchObject({
      code: 'record_unreadable',
    })
    const other = await database.open()
    onTestFinished(() => other.close())
    await prune(testEdges(other, {}), { pids })
    expect(await store.ask({ ask: 'process', pid: pids[1] })).toBeNull()
    expect(await unreadableIn(store)).toEqual([])
  })

  test('of an event is named until the process is pruned, although later events can be read', async () => {
    const database = DATABASES[name]?.()
    if (database === undefined) throw new Error(name)
    const pid = newPid()
    const store = await database.open()
    onTestFinished(() => store.close())
    await store.write(register(pid))
    await store.write(append(pid, 'note'))
    await database.damageEvent(pid)
    await store.write(end(pid))
    const { events } = await store.ask({ ask: 'changes', after: 0, limit: 10 })
    expect(events.map(({ seq }) => seq)).toEqual([1, 3])
    expect(await unreadableIn(store)).toEqual([pid])
    await prune(testEdges(store, {}), { pids: [pid] })
    expect(await unreadableIn(store)).toEqual([])
  })
})

async function unreadableIn(store: Store): Promise<string[]> {
  return (await store.ask({ ask: 'unreadable' })).map(({ pid }) => pid)
}
