import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { Visibility } from '../../src/core/authority/visibility.ts'
import type { Filter } from '../../src/core/process/filter.ts'
import { listParts } from '../../src/store/list-parts.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { Values } from '../../src/store/postgres/statements/conditions.ts'
import { listIds } from '../../src/store/postgres/statements/list.ts'
import { definitionMask, definitionSignature } from '../../src/store/signature.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { listQuery } from '../../src/store/sqlite/statements/list.ts'
import { tempStore } from '../temp-folder.ts'
import { end, newPid, register } from './plans.ts'

const ENDED = { status: 'any' } as const
const SESSION: Visibility = { type: 'session', session: 's1' }

/** Filters, and the indexes that each store reads for them. */
const CASES: readonly (readonly [Filter, Visibility | undefined, readonly string[]])[] = [
  [{}, undefined, ['process_live']],
  [{ status: ['running'] }, undefined, ['process_live']],
  [{ status: ['failed'] }, undefined, ['process_ended_list']],
  [{ ...ENDED, label: ['a'] }, undefined, ['process_live', 'process_ended_list']],
  [{ ...ENDED, definition: [{ flow: 'a' }] }, undefined, ['process_live', 'process_ended_list']],
  [{ ...ENDED, createdAfter: 5 }, undefined, ['process_live', 'process_ended_list']],
  [{ ...ENDED, kind: ['tool'] }, { type: 'all' }, ['process_live', 'process_ended_list']],
  [{ ...ENDED, owner: { session: ['s1'] } }, undefined, ['process_session_live', 'process_session_ended']],
  [{ status: ['failed'], label: ['a'] }, SESSION, ['process_session_ended', 'visible', 'below_session']],
  [{ sessionTree: 's1' }, undefined, ['process_session_live', 'below_session']],
  [{ parent: ['p_1'] }, undefined, ['process_parent_live']],
  [{ ...ENDED, waiting: ['signal'] }, undefined, ['process_live']],
]

test('a list on SQLite reads the index for its filter, and no other record', async () => {
  const file = tempStore()
  await (await openSqlite(file)).close()
  const db = new DatabaseSync(file)
  onTestFinished(() => db.close())
  for (const [filter, visibleTo, indexes] of CASES) {
    const range = { after: 0, until: 100, newestFirst: false, records: 10 }
    const { sql, values } = listQuery(listParts(filter, visibleTo), range)
    const plan = db.prepare(`explain query plan ${sql}`).all(null, ...values)
    const read = plan.map(({ detail }) => String(detail)).join('\n')
    for (const index of indexes) expect(read, JSON.stringify(filter)).toContain(index)
    expect(read).not.toMatch(/SCAN process(?! USING)/)
    for (const index of ['process_ended_list', 'process_session_ended'])
      if (indexes.includes(index)) expect(read).toContain(`USING COVERING INDEX ${index}`)
  }
})

test('a list on PostgreSQL reads the index for its filter', async () => {
  const schema = `test ${crypto.randomUUID()}`
  const store = await openPostgres(inject('postgresUrl'), { schema })
  const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined })
  onTestFinished(async () => {
    await store.close()
    await sql.unsafe(`drop schema "${schema}" cascade`)
    await sql.end()
  })
  const pids = Array.from({ length: 200 }, newPid)
  await Promise.all(pids.map((pid) => store.write(register(pid, { owner: { session: 's1' } }))))
  await Promise.all(pids.slice(0, 150).map((pid) => store.write(end(pid))))
  // Pages count as visible to all only when every older transaction of the server has ended. Until then an index-only scan
  // looks expensive to the planner.
  const vacuum = async () => {
    await sql.unsafe(`vacuum analyze "${schema}".process`)
    const [found] = await sql.unsafe(
      `select relallvisible = relpages as "isVisible" from pg_class where oid = '"${schema}".process'::regclass`,
    )
    return found?.['isVisible']
  }
  await expect.poll(vacuum).toBe(true)
  for (const setting of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan'])
    await sql.unsafe(`set ${setting} = off`)
  for (const [filter, visibleTo, indexes] of CASES) {
    const values = new Values()
    const range = { after: 0, newestFirst: false, records: 10 }
    const text = listIds(`"${schema}".`, listParts(filter, visibleTo), range, values)
    const plan = await sql.unsafe(`explain ${text}`, values.all as never[])
    const read = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
    for (const index of indexes) expect(read, `${JSON.stringify(filter)}\n${read}`).toContain(index)
    expect(read).not.toContain('Seq Scan')
  }
})

test('a list that reads many records lets other work run in between', async () => {
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const pids = Array.from({ length: 600 }, newPid)
  await Promise.all(pids.map((pid) => store.write(register(pid))))
  let turns = 0
  const count = () => {
    turns += 1
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  onTestFinished(() => clearImmediate(immediate))
  const filter = { owner: { turn: ['none'] } }
  const { items } = await store.ask({ ask: 'processes', filter, after: null, limit: 1_000 })
  expect(items).toEqual([])
  expect(turns).toBeGreaterThan(0)
})

test('records that were written before lists had signatures are found by label, definition and status', async () => {
  const file = tempStore()
  const store = await openSqlite(file)
  onTestFinished(() => store.close())
  const pid = newPid()
  await store.write(register(pid, { label: 'old', definition: { flow: 'a' } }))
  await store.write(end(pid))
  const db = new DatabaseSync(file)
  db.exec('update process set label_signature = null, definition_signature = null, end_status = null')
  db.close()
  for (const filter of [
    { ...ENDED, label: ['old'] },
    { ...ENDED, definition: [{ flow: 'a' }] },
    { status: ['completed'] } as const,
  ]) {
    const { items } = await store.ask({ ask: 'processes', filter, after: null, limit: 10 })
    expect(items.map(({ record }) => record.pid)).toEqual([pid])
  }
})

test('the signature of a definition has all bits of the definitions that it contains', () => {
  const whole = { team: 'x', size: [1, 2], deep: { n: 1, m: { k: null } }, empty: {} }
  for (const part of [
    {},
    { team: 'x' },
    { size: [1, 2] },
    { deep: { m: { k: null } } },
    { empty: {} },
    whole,
  ]) {
    const mask = BigInt(definitionMask(part))
    expect(BigInt(definitionSignature(whole)) & mask).toBe(mask)
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]))
  expect(BigInt(definitionSignature(many)) & BigInt(definitionMask({ k99: 99 }))).toBe(
    BigInt(definitionMask({ k99: 99 })),
  )
  expect(definitionMask(many)).toBe(0)
})
