import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { embed } from 'reeve'
import { openMemory } from 'reeve/testing'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { tempStore } from '../temp-folder.ts'

test('SQLite uses a write-ahead log and syncs every commit', async () => {
  const file = tempStore()
  const store = await openSqlite(file)
  expect(store.durability).toEqual({
    store: 'sqlite',
    survivesPowerCut: true,
    settings: { journal_mode: 'wal', synchronous: '2' },
  })
  const reader = new DatabaseSync(file)
  expect(reader.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' })
  reader.close()
  await store.close()
})

test('a file in another journal mode is switched back to the write-ahead log', async () => {
  const file = tempStore()
  const other = new DatabaseSync(file)
  other.exec('pragma journal_mode = delete; create table somebody (x)')
  other.close()
  const store = await openSqlite(file)
  expect(store.durability.survivesPowerCut).toBe(true)
  await store.close()
})

test('the durability of PostgreSQL follows from its settings', async () => {
  const schema = `durability ${crypto.randomUUID()}`
  const url = inject('postgresUrl')
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  onTestFinished(async () => {
    await sql.unsafe(`drop schema if exists "${schema}" cascade`)
    await sql.end()
  })
  const store = await openPostgres(url, { schema })
  expect(store.durability).toMatchObject({
    store: 'postgres',
    survivesPowerCut: true,
    settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
  })
  const [server] =
    await sql`select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages`
  expect(server).toEqual({ fsync: 'on', pages: 'on' })
  await store.close()
})

test('the memory store claims no durability', async () => {
  const store = await openMemory()
  expect(store.durability).toEqual({ store: 'memory', survivesPowerCut: false, settings: {} })
  await store.close()
})

test('the files of a store are readable by their owner alone', async () => {
  const file = tempStore()
  const reeve = await embed({ store: file })
  await reeve.spawn({ kind: 'external', spec: { description: 'x' } })
  const { statSync } = await import('node:fs')
  for (const path of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(path).mode & 0o077, path).toBe(0)
  await reeve.close()
})
