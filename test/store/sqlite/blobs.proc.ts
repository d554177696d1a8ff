import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { startProgram } from '../../crash/program.ts'
import { tempStore } from '../../temp-folder.ts'
import { newPid, register } from '../plans.ts'

test('after kill -9 every acknowledged reference has its blob, and parts of an unfinished put are swept', async () => {
  const file = tempStore()
  const store = await openSqlite(file)
  onTestFinished(() => store.close())
  const pid = newPid()
  await store.write(register(pid))
  const referred: string[] = []
  for (const seed of ['first', 'second', 'third']) {
    const writer = await startProgram('blob-writer', [file, pid, seed])
    await writer.says('referred', ({ count }) => count === 3)
    await writer.kill()
    referred.push(...writer.said.flatMap((line) => ('referred' in line ? [String(line['referred'])] : [])))
  }
  await store.blobs.sweep(0)
  for (const key of referred) expect(hash('sha256', (await store.blobs.get(key)) ?? '')).toBe(key)
  const db = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => db.close())
  // A commit that was not acknowledged may have happened all the same.
  const found = db
    .prepare(
      `select (select count(*) from blob) as blobs,
        (select count(*) from blob where size is not null) as complete,
        (select count(*) from blob_reference) as refs,
        (select count(distinct hash) from blob_part) as contents`,
    )
    .get()
  const count = Number(found?.['refs'])
  expect(found).toEqual({ blobs: count, complete: count, refs: count, contents: count })
  expect(count).toBeGreaterThanOrEqual(referred.length)
})
