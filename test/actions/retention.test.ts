import { hash } from 'node:crypto'
import { embed } from 'reeve'
import { MemoryTables, openMemory, simulatedClock } from 'reeve/testing'
import { expect, onTestFinished, test } from 'vitest'

const tools = { greet: () => 'hello', wait: () => new Promise<string>(() => {}) }

async function started(retention?: { maxAgeMs?: number; maxEnded?: number }) {
  const store = await openMemory()
  const reeve = await embed({
    store,
    tools,
    times: { pruneMs: 10 },
    ...(retention === undefined ? {} : { retention }),
  })
  onTestFinished(() => reeve.close())
  const run = async () => {
    const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'greet' } })
    await reeve.wait({ pid: record.pid })
    return record.pid
  }
  const pids = async () =>
    (await reeve.list({ filter: { status: 'any' } })).processes.map(({ record }) => record.pid)
  return { reeve, run, pids }
}

test('an embedded kernel keeps the latest ended processes, and never removes a live one', async () => {
  const { reeve, run, pids } = await started({ maxEnded: 2 })
  const live = await reeve.spawn({ kind: 'tool', spec: { tool: 'wait' } })
  const ended = [await run(), await run(), await run(), await run()]
  await expect.poll(pids).toEqual([live.record.pid, ...ended.slice(2)])
  const status = await reeve.status()
  expect(status.ended).toMatchObject({ count: 2, maxAgeMs: null, maxCount: 2 })
  expect(status.ended.lastPrune?.pruned).toBeGreaterThan(0)
})

test('ended processes are pruned when they are older than the limit', async () => {
  const { run, pids } = await started({ maxAgeMs: 0 })
  await run()
  await expect.poll(pids).toEqual([])
})

test('without limits nothing is pruned automatically, and processes can be pruned by name or pid', async () => {
  const { reeve, run, pids } = await started()
  const [first, second] = [await run(), await run()]
  expect((await reeve.status()).ended).toEqual({
    count: 2,
    oldestAt: expect.any(Number),
    maxAgeMs: null,
    maxCount: null,
    lastPrune: null,
  })
  const live = await reeve.spawn({ kind: 'tool', name: 'live', spec: { tool: 'wait' } })
  expect(await reeve.prune({ pids: [first, 'live'] })).toEqual({
    pruned: [first],
    kept: [{ pid: live.record.pid, reason: 'live' }],
  })
  expect(await pids()).toEqual([second, live.record.pid])
  await expect(reeve.prune({ pids: [second], keep: 1 })).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(reeve.prune({})).rejects.toMatchObject({ code: 'invalid_input' })
})

test('a kernel sweeps blobs without a reference that were put a day ago, with no limits set', async () => {
  const shared = new MemoryTables()
  const putAt = async (text: string, at: number) => {
    const store = await openMemory({ shared, clock: simulatedClock(at) })
    const bytes = new TextEncoder().encode(text)
    await store.blobs.put(hash('sha256', bytes), bytes)
    await store.close()
    return hash('sha256', bytes)
  }
  const hour = 3_600_000
  const old = await putAt('old', Date.now() - 24 * hour - 1)
  const fresh = await putAt('fresh', Date.now() - 23 * hour)
  const store = await openMemory({ shared })
  const reeve = await embed({ store })
  onTestFinished(() => reeve.close())
  await expect.poll(() => store.blobs.get(old)).toBeNull()
  expect(await store.blobs.get(fresh)).not.toBeNull()
})
