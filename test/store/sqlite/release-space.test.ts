import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { embed } from 'reeve'
import { afterEach, expect, test } from 'vitest'
import type { Store } from '../../../src/store/contract.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { NEEDS_MOUNT, testIf } from '../../reporting/test-if.ts'
import { canMount, SmallDisk } from '../../small-disk.ts'
import { tempFolder, tempStore } from '../../temp-folder.ts'
import { append, end, newPid, prune, register } from '../plans.ts'

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})

test('a SQLite file becomes smaller after its processes were pruned', async () => {
  const file = tempStore()
  const before = await filledAndPruned(file)
  await released(file)
  expect(before).toBeGreaterThan(2_000)
  expect(pagesOf(file)).toBeLessThan(1_500)
})

test('a SQLite file of an earlier version becomes smaller, too', async () => {
  const file = tempStore()
  const old = new DatabaseSync(file)
  old.exec('pragma auto_vacuum = none; pragma journal_mode = wal')
  old.close()
  await filledAndPruned(file)
  await released(file)
  expect(pagesOf(file)).toBeLessThan(1_500)
  const db = new DatabaseSync(file)
  expect(db.prepare('pragma auto_vacuum').get()).toEqual({ auto_vacuum: 2 })
  db.close()
})

test('a SQLite file that another process writes to is not changed', async () => {
  const file = tempStore()
  await filledAndPruned(file)
  const store = await opened(file)
  const other = new DatabaseSync(file)
  other.exec('begin immediate')
  expect(await store.releaseSpace?.()).toBe('done')
  other.exec('rollback')
  other.close()
  expect(await store.releaseSpace?.()).toBe('more')
})

test('an embedded kernel that prunes makes its SQLite file smaller', async () => {
  const file = tempStore()
  await filled(file)
  const before = pagesOf(file)
  const reeve = await embed({ store: file })
  try {
    expect((await reeve.prune({ keep: 0 })).pruned).toHaveLength(10)
  } finally {
    await reeve.close()
  }
  expect(before).toBeGreaterThan(2_000)
  expect(pagesOf(file)).toBeLessThan(1_500)
})

testIf(canMount, NEEDS_MOUNT)('a SQLite file on a full disk is not changed', async () => {
  const disk = new SmallDisk(tempFolder(), 64 * 1024 * 1024)
  try {
    const file = join(disk.folder, 'reeve.db')
    await filledAndPruned(file)
    const store = await opened(file)
    disk.fill()
    expect(await store.releaseSpace?.()).toBe('done')
    disk.makeRoom()
    expect(await store.releaseSpace?.()).toBe('more')
    await store.close()
  } finally {
    disk.unmount()
  }
})

async function opened(file: string): Promise<Store> {
  const store = await openSqlite(file)
  stores.push(store)
  return store
}

async function filled(file: string): Promise<void> {
  const store = await opened(file)
  const pids = Array.from({ length: 10 }, newPid)
  await Promise.all(pids.map((pid) => store.write(register(pid))))
  // The store compresses long texts: this one becomes no shorter than its bytes.
  const text = randomBytes(1_000_000).toString('base64')
  for (const pid of pids) await store.write(append(pid, text))
  for (const pid of pids) await store.write(end(pid))
  await store.close()
}

/** Returns the number of pages before. */
async function filledAndPruned(file: string): Promise<number> {
  await filled(file)
  const pages = pagesOf(file)
  const again = await opened(file)
  expect(await again.write(prune(0))).toHaveLength(10)
  await again.close()
  return pages
}

async function released(file: string): Promise<void> {
  const store = await opened(file)
  while ((await store.releaseSpace?.()) === 'more');
  await store.close()
}

function pagesOf(file: string): number {
  const db = new DatabaseSync(file)
  const pages = Number(db.prepare('pragma page_count').get()?.['page_count'])
  db.close()
  return pages
}
