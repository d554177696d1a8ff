import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../src/store/contract.ts'
import type { Transaction } from '../../../src/store/group-commit.ts'
import { copySqlite } from '../../../src/store/sqlite/copy.ts'
import { openSqlite, type SqliteOptions } from '../../../src/store/sqlite/open.ts'
import { tempStore } from '../../temp-folder.ts'
import { append, newPid, referTo, register } from '../plans.ts'

const MEBIBYTE = 1024 * 1024
const LARGE = new Uint8Array(3 * MEBIBYTE).fill(7)

async function opened(file: string, options: SqliteOptions = {}): Promise<Store> {
  const store = await openSqlite(file, options)
  onTestFinished(() => store.close())
  return store
}

/** The hash of the stored content. A comparison of megabytes by the test runner would take seconds. */
async function hashAt(store: Store, key: string): Promise<string | null> {
  const found = await store.blobs.get(key)
  return found === null ? null : hash('sha256', found)
}

/** Fails one commit, as a disk would. */
function failing(which: number): (transaction: Transaction) => Transaction {
  let commits = 0
  return (transaction) => ({
    begin: () => transaction.begin(),
    answer: (question) => transaction.answer(question),
    apply: (change) => transaction.apply(change),
    commit() {
      commits += 1
      if (commits === which) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
      return transaction.commit()
    },
    rollback: () => transaction.rollback(),
    isBusy: (error) => transaction.isBusy(error),
    isPlanFault: (error) => transaction.isPlanFault(error),
    toStoreError: (error, committing) => transaction.toStoreError(error, committing),
  })
}

test('a blob whose put failed between two parts is absent, is swept, and can be put again', async () => {
  const file = tempStore()
  const key = hash('sha256', LARGE)
  // The first commit looks whether the blob is there, and each part is one.
  const broken = await opened(file, { wrap: failing(3) })
  await expect(broken.blobs.put(key, LARGE)).rejects.toMatchObject({ code: 'outcome_unknown' })
  const store = await opened(file)
  const pid = newPid()
  await store.write(register(pid))
  expect(await store.blobs.get(key)).toBeNull()
  await expect(store.write(referTo(pid, [key]))).rejects.toMatchObject({ code: 'blob_missing' })
  expect(await store.blobs.sweep(0)).toBe(1)
  const db = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => db.close())
  expect(db.prepare('select count(*) as count from blob_part').get()).toEqual({ count: 0 })
  await store.blobs.put(key, LARGE)
  await store.write(referTo(pid, [key]))
  expect(await hashAt(store, key)).toBe(key)
})

test('the next put completes what a put that died left behind', async () => {
  const file = tempStore()
  const key = hash('sha256', LARGE)
  const broken = await opened(file, { wrap: failing(4) })
  await expect(broken.blobs.put(key, LARGE)).rejects.toThrow()
  const store = await opened(file)
  await store.blobs.put(key, LARGE)
  expect(await hashAt(store, key)).toBe(key)
})

test('a sweep of another program between two parts makes the put begin again', async () => {
  const file = tempStore()
  const other = await opened(file)
  let commits = 0
  let swept: Promise<number> | undefined
  const wrap = (transaction: Transaction): Transaction =>
    new Proxy(transaction, {
      get(target, name) {
        const own = Reflect.get(target, name)
        if (name !== 'commit') return typeof own === 'function' ? own.bind(target) : own
        return () => {
          const commit = target.commit()
          commits += 1
          if (commits === 2) swept = other.blobs.sweep(0)
          return commit
        }
      },
    })
  const store = await opened(file, { wrap })
  await store.blobs.put(hash('sha256', LARGE), LARGE)
  // The sweep may meet the blob once more after it was begun again.
  expect(await swept).toBeGreaterThanOrEqual(1)
  expect(await hashAt(store, hash('sha256', LARGE))).toBe(hash('sha256', LARGE))
})

test('commits of others go between the parts of a large blob', async () => {
  const turns: (() => void)[] = []
  const store = await opened(tempStore(), { soon: (task) => void turns.push(task) })
  const turn = async () => {
    turns.shift()?.()
    // Continuations of the answers run before the next turn.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const pid = newPid()
  const registered = store.write(register(pid))
  await turn()
  await registered
  let isPut = false
  const putting = store.blobs.put(hash('sha256', LARGE), LARGE).then(() => (isPut = true))
  const seen: boolean[] = []
  while (!isPut && turns.length < 100) {
    void store.write(append(pid, 'x')).then(() => seen.push(isPut))
    await turn()
  }
  await putting
  expect(seen.filter((wasPut) => !wasPut).length).toBeGreaterThan(3)
})

test('a blob of a store is in its copy', async () => {
  const [file, copy] = [tempStore(), tempStore()]
  const store = await opened(file)
  const key = hash('sha256', LARGE)
  await store.blobs.put(key, LARGE)
  copySqlite(file, copy)
  expect(await hashAt(await opened(copy), key)).toBe(key)
})

test('the space of swept blobs is returned to the file system', async () => {
  const file = tempStore()
  const store = await opened(file)
  const large = new Uint8Array(16 * MEBIBYTE).fill(1)
  await store.blobs.put(hash('sha256', large), large)
  const { bytes: before } = await store.ask({ ask: 'storage' })
  await store.blobs.sweep(0)
  while ((await store.releaseSpace?.()) === 'more');
  const { bytes: after } = await store.ask({ ask: 'storage' })
  expect(before).toBeGreaterThan(16 * MEBIBYTE)
  expect(after).toBeLessThan(5 * MEBIBYTE)
})
