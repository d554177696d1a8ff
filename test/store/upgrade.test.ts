import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { sql as postgresV1 } from '../../src/store/postgres/migrations/0001-process.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { sql as sqliteV1 } from '../../src/store/sqlite/migrations/0001-process.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { tempFile } from '../temp-file.ts'

const NOTICE = { scope: 'session:s1', pid: 'p_000000000001', seq: 2, kind: 'completion', at: 7 }

async function expectsTheOldNotice(store: Store): Promise<void> {
  onTestFinished(() => store.close())
  const notices = await store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9, open: true })
  expect(notices).toEqual([
    { ...NOTICE, place: 1, payload: { a: 1 }, replyTo: null, done: null, observed: [] },
  ])
  await store.write(function* () {
    yield []
    return {
      answer: undefined,
      changes: [{ type: 'notices_done', scope: 'session:s1', places: [1], how: 'acknowledged' }],
    }
  })
  expect(await store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9, open: true })).toEqual([])
}

const ENVIRONMENT = { variables: { A: '1' }, policy: {}, options: {} }

/** Nobody wrote down who uses it, so that nobody gives it up. */
async function expectsTheOldEnvironment(store: Store): Promise<void> {
  expect(await store.ask({ ask: 'environments', usedBy: 'host', limit: 9 })).toEqual(['e1'])
  await store.write(function* () {
    yield []
    return {
      answer: undefined,
      changes: [
        { type: 'environment_used', ref: 'e1', by: 'session:s1' },
        { type: 'environment_unused', ref: 'e1', by: 'session:s1' },
      ],
    }
  })
  expect(await store.ask({ ask: 'environment', ref: 'e1' })).toEqual(ENVIRONMENT)
}

test('a SQLite file of the first version keeps its environments, and its notices, which can then be acknowledged', async () => {
  const file = tempFile()
  const old = new DatabaseSync(file)
  old.exec(sqliteV1)
  old.exec(`insert into notice (scope, process, pid, seq, kind, at, payload, reply_to)
    values ('session:s1', 1, 'p_000000000001', 2, 'completion', 7, '{"a":1}', 'null')`)
  old.prepare('insert into environment values (?, ?)').run('e1', JSON.stringify(ENVIRONMENT))
  old.exec('pragma user_version = 1')
  old.close()
  const store = await openSqlite(file)
  await expectsTheOldNotice(store)
  await expectsTheOldEnvironment(store)
})

test('a PostgreSQL schema of the first version keeps its environments, and its notices, which can then be acknowledged', async () => {
  const url = inject('postgresUrl')
  const schema = `upgrade ${crypto.randomUUID()}`
  const at = `"${schema}".`
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  onTestFinished(async () => {
    await sql.unsafe(`drop schema if exists "${schema}" cascade`)
    await sql.end()
  })
  await sql.unsafe(`create schema "${schema}"`)
  await sql.unsafe(`create table ${at}migration (number integer primary key, at timestamptz not null)`)
  await sql.unsafe(postgresV1(at))
  await sql.unsafe(`insert into ${at}migration values (1, now())`)
  await sql.unsafe(`insert into ${at}notice (scope, pid, seq, kind, at, payload, reply_to)
    values ('session:s1', 'p_000000000001', 2, 'completion', 7, '{"a":1}', 'null')`)
  await sql.unsafe(`insert into ${at}environment values ('e1', $1)`, [JSON.stringify(ENVIRONMENT)])
  const store = await openPostgres(url, { schema })
  await expectsTheOldNotice(store)
  await expectsTheOldEnvironment(store)
})
