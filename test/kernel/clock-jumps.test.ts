import { embed } from 'reeve'
import { openMemory } from 'reeve/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { nodeEdges } from '../../src/embed/node-edges.ts'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const
const DAY_MS = 24 * 60 * 60 * 1_000
/** No timer renews a lease during the test. */
const NEVER_RENEWED = { renewMs: DAY_MS / 6, ttlMs: DAY_MS / 2 } as const

/** Only the wall clock is set: timers go on, as they do when the clock of a machine is set. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
afterEach(() => void vi.useRealTimers())
const jump = (ms: number) => vi.setSystemTime(Date.now() + ms)

test('a process does not end before it began, even if the clock was set back', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn(OUTSIDE)
  jump(-DAY_MS)
  await reeve.changeCwd({ pid: record.pid, cwd: '/' })
  const ended = await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  expect(ended.record.outcome?.endedAt).toBeGreaterThanOrEqual(record.createdAt)
  const { events } = await reeve.events({ pid: record.pid })
  expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b))
  await reeve.close()
})

test('a live holder keeps its work, even if the clock was set ahead by a day', async () => {
  const store = tempStore()
  const go = Promise.withResolvers<void>()
  const executed: string[] = []
  const work = async ({ pid }: { pid: string }) => {
    executed.push(pid)
    await go.promise
    return null
  }
  const one = await embed({ store, tools: { work } })
  const two = await embed({ store, tools: { work } })
  const { record } = await one.spawn({ kind: 'tool', spec: { tool: 'work' }, recovery: 'rerunnable' })
  jump(DAY_MS)
  expect(await two.recover({})).toMatchObject({ checked: [], rerun: [], abandoned: [] })
  go.resolve()
  const ended = await two.wait({ pid: record.pid })
  expect(ended.type === 'ended' && [ended.record.outcome?.status, ended.record.attempts]).toEqual([
    'completed',
    1,
  ])
  expect(executed).toEqual([record.pid])
  await one.close()
  await two.close()
})

test('work begins at once after the clock was set ahead, because the lease is renewed first', async () => {
  const reeve = await embed({ store: tempStore(), tools: { work: () => 'done' }, times: NEVER_RENEWED })
  jump(DAY_MS)
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'work' } })
  expect(record.status).toBe('running')
  const ended = await reeve.wait({ pid: record.pid })
  expect(ended.type === 'ended' && ended.record.outcome?.status).toBe('completed')
  await reeve.close()
})

test('work of other kernels is claimed at once after the clock was set ahead', async () => {
  const store = tempStore()
  const worker = await embed({ store, tools: { work: () => 'done' }, times: NEVER_RENEWED })
  const boss = await embed({ store, times: NEVER_RENEWED })
  jump(DAY_MS)
  const { record } = await boss.spawn({ kind: 'tool', spec: { tool: 'work' } })
  const ended = await boss.wait({ pid: record.pid })
  expect(ended.type === 'ended' && ended.record.outcome?.status).toBe('completed')
  await worker.close()
  await boss.close()
})

test('work that was registered before the clock was set back runs at once', async () => {
  const store = tempStore()
  const boss = await embed({ store })
  const { record } = await boss.spawn({ kind: 'tool', spec: { tool: 'work' } })
  jump(-DAY_MS)
  const worker = await embed({ store, tools: { work: () => 'done' } })
  const ended = await boss.wait({ pid: record.pid })
  expect(ended.type === 'ended' && ended.record.outcome?.status).toBe('completed')
  await worker.close()
  await boss.close()
})

test('pruning by age counts from the end by the current clock', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn(OUTSIDE)
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  jump(-DAY_MS)
  expect(await reeve.prune({ olderThanMs: 0 })).toEqual({ pruned: [], kept: [] })
  jump(DAY_MS + 1_000)
  expect(await reeve.prune({ olderThanMs: 500 })).toEqual({ pruned: [record.pid], kept: [] })
  await reeve.close()
})

test('a timer for later than Node can count does not fire early', async () => {
  const { clock } = nodeEdges(await openMemory(), () => {})
  vi.useFakeTimers({ now: 0 })
  const fired: number[] = []
  const month = 30 * DAY_MS
  clock.after(month, () => fired.push(Date.now()))
  const cancel = clock.after(month, () => fired.push(-1))
  vi.advanceTimersByTime(2 ** 31)
  expect(fired).toEqual([])
  cancel()
  vi.advanceTimersByTime(month - 2 ** 31)
  expect(fired).toEqual([month])
})
