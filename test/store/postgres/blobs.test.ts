import { hash } from 'node:crypto'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { newPid, referTo, register } from '../plans.ts'
import { freshSchema, url } from './fresh-schema.ts'

const MEBIBYTE = 1024 * 1024
const LARGE = new Uint8Array(3 * MEBIBYTE).fill(7)

function connection() {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  onTestFinished(() => sql.end())
  return sql
}

test('a blob whose put died between two parts is absent, is swept, and can be put again', async () => {
  const { schema, open } = freshSchema()
  const store = await open()
  const sql = connection()
  const key = hash('sha256', LARGE)
  const first = LARGE.subarray(0, MEBIBYTE)
  const begin = () => sql`select ${sql(schema)}.put_blob_part(${key}, 0, ${first}, null)`
  await begin()
  const pid = newPid()
  await store.write(register(pid))
  expect(await store.blobs.get(key)).toBeNull()
  await expect(store.write(referTo(pid, [key]))).rejects.toMatchObject({ code: 'blob_missing' })
  expect(await store.blobs.sweep(0)).toBe(1)
  expect(await sql`select from ${sql(schema)}.blob_part`).toHaveLength(0)
  await begin()
  await store.blobs.put(key, LARGE)
  await store.write(referTo(pid, [key]))
  expect(hash('sha256', (await store.blobs.get(key)) ?? '')).toBe(key)
})

test('a sweep neither waits for a commit under way nor deletes the blobs that it refers to', async () => {
  const { schema, open } = freshSchema()
  const store = await open()
  const sql = connection()
  const pid = newPid()
  await store.write(register(pid))
  const [used, unused] = [new Uint8Array([1]), new Uint8Array([2])].map((bytes) => ({
    bytes,
    key: hash('sha256', bytes),
  }))
  if (used === undefined || unused === undefined) throw new Error('no blobs')
  for (const { key, bytes } of [used, unused]) await store.blobs.put(key, bytes)
  await sql.begin(async (transaction) => {
    const added = JSON.stringify([{ pid, hash: used.key }])
    await transaction.unsafe(`select "${schema}".change_blob_references(null, $1::text::json)`, [added])
    expect(await store.blobs.sweep(0)).toBe(1)
  })
  expect(await store.blobs.sweep(0)).toBe(0)
  expect(await store.blobs.get(used.key)).toEqual(used.bytes)
  expect(await store.blobs.get(unused.key)).toBeNull()
})

test('a put goes on when its connection is killed between two parts', { timeout: 120_000 }, async () => {
  const { schema, open } = freshSchema()
  const store = await open()
  const sql = connection()
  let kills = 0
  // A put that is done before the first kill is followed by another one.
  for (let round = 1; kills === 0; round++) {
    const large = new Uint8Array(12 * MEBIBYTE).fill(round)
    const key = hash('sha256', large)
    let isPut = false
    const putting = store.blobs.put(key, large).then(() => (isPut = true))
    while (!isPut && kills < 5) {
      const killed = await sql.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity
        where query like '%"${schema}".put\\_blob%' and pid <> pg_backend_pid()`)
      kills += killed.length
    }
    await putting
    expect(hash('sha256', (await store.blobs.get(key)) ?? '')).toBe(key)
  }
})
