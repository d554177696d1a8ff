import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { tempStore } from '../../temp-folder.ts'
import { append, end, newPid, prune, register } from '../plans.ts'

const MB = 1024 * 1024
/** The limit of 16 MB is checked after a commit. */
const MAX_WAL_BYTES = 20 * MB

test('the WAL is checkpointed before it has 20 MB, also after a prune', async () => {
  const file = tempStore()
  const store = await openSqlite(file)
  onTestFinished(() => store.close())
  const fill = async () => {
    const pid = newPid()
    await store.write(register(pid))
    for (let count = 0; count < 40; count++)
      await store.write(append(pid, randomBytes(0.75 * MB).toString('base64')))
    await store.write(end(pid))
    expect(statSync(`${file}-wal`).size).toBeLessThan(MAX_WAL_BYTES)
  }
  await fill()
  expect(await store.write(prune(0))).toHaveLength(1)
  await fill()
})
