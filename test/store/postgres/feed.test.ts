import { expect, onTestFinished, test, vi } from 'vitest'
import type { Commit } from '../../../src/store/contract.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { append, increment, newPid, register } from '../plans.ts'
import { freshSchema, url } from './fresh-schema.ts'

test('a follower misses nothing and sees nothing twice while four stores write', async () => {
  const { open } = freshSchema()
  const stores = await Promise.all([open(), open(), open(), open()])
  const reader = await open()
  const seen: string[] = []
  let cursor = 0
  let reading = Promise.resolve()
  const follow = () => {
    reading = reading.then(async () => {
      const { events } = await reader.ask({ ask: 'changes', after: cursor, limit: 50 })
      seen.push(...events.map(({ pid, seq }) => `${pid} ${seq}`))
      cursor = events.at(-1)?.position ?? cursor
      if (events.length > 0) follow()
    })
  }
  const unfollow = reader.onCommit(follow)
  const written = await Promise.all(
    stores.flatMap((store) =>
      Array.from({ length: 5 }, async () => {
        const pid = newPid()
        await store.write(register(pid))
        for (let n = 1; n < 100; n++) await store.write(append(pid, n))
        return pid
      }),
    ),
  )
  await expect.poll(() => seen.length).toBe(2000)
  unfollow()
  await reading
  const expected = written.flatMap((pid) => Array.from({ length: 100 }, (_, index) => `${pid} ${index + 1}`))
  expect(seen.toSorted()).toEqual(expected.toSorted())
})

test('own commits are reported with their events, in order; those of another store as a nudge', async () => {
  const { open } = freshSchema()
  const [a, b] = [await open(), await open()]
  const [own, foreign]: [Commit[], Commit[]] = [[], []]
  a.onCommit((commit) => own.push(commit))
  b.onCommit((commit) => foreign.push(commit))
  const pid = newPid()
  await a.write(register(pid))
  await Promise.all([a.write(append(pid, 1)), a.write(append(pid, 2))])
  expect(own.map(({ after, position, events }) => [after, position, events?.map(({ seq }) => seq)])).toEqual([
    [0, 1, [1]],
    [1, 3, [2, 3]],
  ])
  await expect.poll(() => foreign.at(-1)).toEqual({ after: 3, position: 3, events: null })
  expect(foreign.every(({ events }) => events === null)).toBe(true)
})

test('a store that opens amid the commits of another is notified of the last one', async () => {
  // Without the polling that finds lost notifications after a while.
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { schema, open } = freshSchema()
  const writer = await open()
  const pid = newPid()
  await writer.write(register(pid))
  let position = 0
  writer.onCommit((commit) => (position = commit.position))
  for (let round = 0; round < 40; round++) {
    let isOpen = false
    const opening = openPostgres(url, { schema }).finally(() => (isOpen = true))
    while (!isOpen) await writer.write(increment(pid))
    const other = await opening
    let heard = 0
    other.onCommit((commit) => (heard = Math.max(heard, commit.position)))
    // Earlier commits are read, as every subscriber does.
    const { position: known } = await other.ask({ ask: 'changes', after: Number.MAX_SAFE_INTEGER, limit: 1 })
    if (round % 2 === 0) await writer.write(increment(pid))
    await expect.poll(() => Math.max(heard, known)).toBe(position)
    await other.close()
  }
})
