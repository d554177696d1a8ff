import { expect, test } from 'vitest'
import { UsageAsks } from '../../src/command/usage-asks.ts'

const used = (cpuMs: number) => ({
  cpuMs,
  peakMemoryBytes: null,
  readBytes: null,
  writtenBytes: null,
  sampled: true,
})

/** A keeper that answers when it is told to. */
function slowKeeper() {
  const asked: { pids: readonly string[]; answer: (cpuMs: number | Error) => void }[] = []
  const asks = new UsageAsks((pids) => {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, ReturnType<typeof used>>>()
    const answer = (cpuMs: number | Error) =>
      cpuMs instanceof Error
        ? reject(cpuMs)
        : resolve(Object.fromEntries(pids.map((pid) => [pid, used(cpuMs)])))
    asked.push({ pids, answer })
    return promise
  })
  return { asks, asked }
}

test('callers during a pending request share the next one, and get a scan that is newer than their call', async () => {
  const { asks, asked } = slowKeeper()
  const first = asks.of('a')
  await Promise.resolve()
  const later = [asks.of('a'), asks.of('b'), asks.of('c')]
  expect(asked.map(({ pids }) => pids)).toEqual([['a']])
  asked[0]?.answer(1)
  expect(await first).toEqual(used(1))
  expect(asked.map(({ pids }) => pids)).toEqual([['a'], ['a', 'b', 'c']])
  asked[1]?.answer(2)
  expect(await Promise.all(later)).toEqual([used(2), used(2), used(2)])
  const last = asks.of('d')
  await Promise.resolve()
  expect(asked[2]?.pids).toEqual(['d'])
  asked[2]?.answer(3)
  expect(await last).toEqual(used(3))
})

test('a failed request rejects for its callers only, and the next one is sent', async () => {
  const { asks, asked } = slowKeeper()
  const first = asks.of('a')
  await Promise.resolve()
  const second = asks.of('b')
  asked[0]?.answer(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  asked[1]?.answer(5)
  expect(await second).toEqual(used(5))
})
