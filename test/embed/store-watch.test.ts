import { hash } from 'node:crypto'
import { simulatedClock } from 'reeve/testing'
import { expect, onTestFinished, test } from 'vitest'
import { StoreWatch } from '../../src/embed/store-watch.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { newPid, register } from '../store/plans.ts'
import { tempStore } from '../temp-folder.ts'

test('a blob that a full disk does not take is a failed write, until the next write succeeds', async () => {
  let isFull = false
  const store = await openSqlite(tempStore(), {
    wrap: (transaction) =>
      new Proxy(transaction, {
        get(target, name) {
          if (name === 'commit' && isFull)
            return () => {
              throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
            }
          const own: unknown = Reflect.get(target, name)
          return typeof own === 'function' ? own.bind(target) : own
        },
      }),
  })
  onTestFinished(() => store.close())
  const clock = simulatedClock()
  const watch = new StoreWatch(store, clock)
  const bytes = new Uint8Array([1])
  const key = hash('sha256', bytes)
  isFull = true
  await expect(watch.store.blobs.put(key, bytes)).rejects.toMatchObject({ code: 'store_full' })
  expect(watch.failed).toMatchObject({
    since: clock.now(),
    remedy: expect.stringContaining('Free some space'),
  })
  isFull = false
  await watch.store.blobs.put(key, bytes)
  await watch.store.write(register(newPid()))
  expect(watch.failed).toBeNull()
  expect(await watch.store.blobs.get(key)).toEqual(bytes)
})
