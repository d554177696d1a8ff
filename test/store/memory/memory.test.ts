import { expect, test } from 'vitest'
import type { Commit } from '../../../src/store/contract.ts'
import { MemoryTables, openMemory } from '../../../src/store/memory/open.ts'
import { AT, announce, append, claim, end, feed, newPid, prune, register, registerUnasked } from '../plans.ts'

test('a plan sees the changes of earlier plans of the same turn', async () => {
  const store = await openMemory()
  const pid = newPid()
  const answers = await Promise.all([
    store.write(register(pid)),
    store.write(register(pid)),
    store.write(append(pid, 'a', { replayKey: 'k' })),
    store.write(append(pid, 'a', { replayKey: 'k' })),
    store.write(append(pid, 'b')),
    store.write(claim(pid, 'h_1')),
    store.write(claim(pid, 'h_2')),
  ])
  expect(answers).toEqual(['registered', 'existing', 2, 2, 3, 1, 'busy'])
})

test('a plan that cannot be stored changes nothing, and fails no other plan', async () => {
  const store = await openMemory()
  const pid = newPid()
  await store.write(register(pid))
  const answers = await Promise.allSettled([
    store.write(append(pid, 'a')),
    store.write(registerUnasked(pid)),
    store.write(append(newPid(), 'nowhere')),
    store.write(append(pid, 'b')),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
})

test('a pruned process is removed with everything that belongs to it, and leaves a tombstone', async () => {
  const store = await openMemory()
  const [one, two] = [newPid(), newPid()]
  await Promise.all([store.write(register(one)), store.write(register(two)), store.write(end(one))])
  expect(await store.write(prune(0))).toEqual([one])
  expect(await store.write(register(one))).toBe('pruned')
  expect((await feed(store)).map(({ pid }) => pid)).toEqual([two])
  expect(await store.ask({ ask: 'changes', after: 9, limit: 1 })).toMatchObject({
    position: 3,
    prunedThrough: 3,
  })
  expect(await store.ask({ ask: 'activity', session: null, since: null })).toEqual({ live: 1, newestAt: AT })
})

test('stores that share tables see the same data and nudge each other, and the tables outlive them', async () => {
  const shared = new MemoryTables()
  const [a, b] = [await openMemory({ shared }), await openMemory({ shared })]
  const heard: Commit[] = []
  b.onCommit((commit) => heard.push(commit))
  const pid = newPid()
  await a.write(register(pid))
  await expect.poll(() => heard).toEqual([{ after: 1, position: 1, events: null }])
  await a.close()
  await b.close()
  const c = await openMemory({ shared })
  expect((await c.ask({ ask: 'process', pid }))?.record.pid).toBe(pid)
})

test('holders expire by the given clock', async () => {
  let now = 1000
  const store = await openMemory({ clock: { now: () => now, after: () => () => undefined } })
  await store.write(announce('h_1', 500))
  expect(await store.ask({ ask: 'holder', id: 'h_1' })).toMatchObject({ renewedAt: 1000, expired: false })
  now = 1500
  expect(await store.ask({ ask: 'holder', id: 'h_1' })).toMatchObject({ expired: true })
})
