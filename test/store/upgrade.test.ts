import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { MIGRATIONS, migrationSql as postgresMigration } from '../../src/store/postgres/migrate.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { migrationSql as sqliteMigration } from '../../src/store/sqlite/migrate.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { tempStore } from '../temp-folder.ts'
import { append, newPid, referTo, register } from './plans.ts'

const NOTICE = { scope: 'session:s1', pid: 'p_000000000001', seq: 2, kind: 'completion', at: 7 }

async function expectsTheOldNotice(store: Store): Promise<void> {
  onTestFinished(() => store.close())
  const notices = await store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9, open: true })
  expect(notices).toEqual([
    { ...NOTICE, position: 1, payload: { a: 1 }, replyTo: null, done: null, observed: [] },
  ])
  await store.write(function* () {
    yield []
    return {
      answer: undefined,
      changes: [{ type: 'notices_done', scope: 'session:s1', positions: [1], how: 'acknowledged' }],
    }
  })
  expect(await store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9, open: true })).toEqual([])
}

const ENVIRONMENT = { variables: { A: '1' }, policy: {}, options: {} }

/** Its users were not recorded, so it belongs to the host and stays. */
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

async function expectsBlobs(store: Store): Promise<void> {
  const pid = newPid()
  const bytes = new Uint8Array([1, 2, 3])
  const key = hash('sha256', bytes)
  await store.write(register(pid))
  await store.blobs.put(key, bytes)
  await store.write(referTo(pid, [key]))
  expect(await store.blobs.sweep(0)).toBe(0)
  expect(await store.blobs.get(key)).toEqual(bytes)
}

test('a SQLite file of the first version keeps its environments, and its notices, which can then be acknowledged', async () => {
  const file = tempStore()
  const old = new DatabaseSync(file)
  old.exec(sqliteMigration('0001-process'))
  old.exec(`insert into notice (scope, process, pid, seq, kind, at, payload, reply_to)
    values ('session:s1', 1, 'p_000000000001', 2, 'completion', 7, '{"a":1}', 'null')`)
  old.prepare('insert into environment values (?, ?)').run('e1', JSON.stringify(ENVIRONMENT))
  old.exec('pragma user_version = 1')
  old.close()
  const store = await openSqlite(file)
  await expectsTheOldNotice(store)
  await expectsTheOldEnvironment(store)
  await expectsBlobs(store)
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
  await sql.unsafe(postgresMigration('0001-process', at))
  await sql.unsafe(`insert into ${at}migration values (1, now())`)
  await sql.unsafe(`insert into ${at}notice (scope, pid, seq, kind, at, payload, reply_to)
    values ('session:s1', 'p_000000000001', 2, 'completion', 7, '{"a":1}', 'null')`)
  await sql.unsafe(`insert into ${at}environment values ('e1', $1)`, [JSON.stringify(ENVIRONMENT)])
  const store = await openPostgres(url, { schema })
  await expectsTheOldNotice(store)
  await expectsTheOldEnvironment(store)
  await expectsBlobs(store)
})

/** A schema that is dropped after the test, and a connection to inspect it. */
function freshSchema() {
  const schema = `upgrade ${crypto.randomUUID()}`
  const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined })
  onTestFinished(async () => {
    await sql.unsafe(`drop schema if exists "${schema}" cascade`)
    await sql.end()
  })
  return { schema, at: `"${schema}".`, sql }
}

test('a migration drops the functions that programs of an earlier version write with', async () => {
  const { schema, at, sql } = freshSchema()
  const url = inject('postgresUrl')
  await sql.unsafe(`create schema "${schema}"`)
  await sql.unsafe(`create table ${at}migration (number integer primary key, at timestamptz not null)`)
  for (const [index, migration] of MIGRATIONS.slice(0, -1).entries()) {
    await sql.unsafe(postgresMigration(migration, at))
    await sql.unsafe(`insert into ${at}migration values (${index + 1}, now())`)
  }
  for (const name of ['commit_changes', 'commit_one'])
    await sql.unsafe(
      `create function ${at}${name}(p_store text) returns bigint language sql as $$ select 1::bigint $$`,
    )
  const store = await openPostgres(url, { schema })
  onTestFinished(() => store.close())
  const left = await sql.unsafe(
    `select proname from pg_proc where pronamespace = to_regnamespace('"${schema}"')
      and proname like 'commit%' order by proname`,
  )
  expect(left.map(({ proname }) => proname)).toEqual(['commit_changes', 'commit_one'])
  expect(await store.write(register(newPid()))).toBe('registered')
})

test('after a newer version migrated its schema, a program’s next write is refused, and it can still read', async () => {
  const { schema, at, sql } = freshSchema()
  const store = await openPostgres(inject('postgresUrl'), { schema })
  onTestFinished(() => store.close())
  const pid = newPid()
  await store.write(register(pid))
  const found = await sql.unsafe(
    `select oid::regprocedure::text as function from pg_proc where pronamespace = to_regnamespace('"${schema}"')
      and proname like 'commit%'`,
  )
  for (const row of found) await sql.unsafe(`drop function ${row['function']}`)
  for (const name of ['commit_changes', 'commit_one'])
    await sql.unsafe(
      `create function ${at}${name}(p_newer text) returns bigint language sql as $$ select 1::bigint $$`,
    )
  const refused = { name: 'StoreError', code: 'schema_too_new', remedy: expect.stringContaining('as new as') }
  await expect(store.write(append(pid, 'note'))).rejects.toMatchObject(refused)
  const several = await Promise.allSettled([store.write(append(pid, 'a')), store.write(register(newPid()))])
  for (const one of several) expect(one).toMatchObject({ reason: refused })
  expect((await store.ask({ ask: 'process', pid }))?.record.revision).toBe(1)
})
