import { openMemory, simulatedClock, testKernel } from 'reeve/testing'
import { expect, test } from 'vitest'

test('the same seed, clock and intents make the same history, to the last field', async () => {
  expect(await history(1)).toEqual(await history(1))
})

test('another seed makes other pids and other chances', async () => {
  const [one, other] = [await history(1), await history(2)]
  expect(one.map(({ type }) => type)).toEqual(other.map(({ type }) => type))
  expect(one.map(({ pid }) => pid)).not.toEqual(other.map(({ pid }) => pid))
})

/** A small life with crashes, in a world where nothing is real. */
async function history(seed: number) {
  const clock = simulatedClock()
  const store = await openMemory({ clock, random: () => 0.5 })
  const dead = new Set<string>()
  const start = (id: string, number: number) =>
    testKernel(store, {
      id,
      clock,
      seed: seed * 100 + number,
      prove: (holder) => (dead.has(holder.id) ? 'dead' : 'unknown'),
    })
  const request = { kind: 'tool', spec: { tool: 'work' }, recovery: 'rerunnable' } as const
  let kernel = await start('k_0', 0)
  const [registered] = await kernel.kernel.register([{ request, actor: 'host' }])
  if (registered?.type !== 'registered') throw new Error('Not registered')
  const { pid } = registered.row.record
  for (const round of [1, 2, 3]) {
    await kernel.begun(pid)
    kernel.crash()
    dead.add(kernel.id)
    kernel = await start(`k_${round}`, round)
    await kernel.kernel.sweep()
    const row = await store.ask({ ask: 'process', pid })
    clock.advance(Math.max(0, (row?.record.retryAt ?? 0) - clock.now()))
    await kernel.kernel.sweep()
  }
  await kernel.begun(pid)
  kernel.finish(pid, { status: 'completed', result: seed })
  await kernel.kernel.waits.forEnd(pid, {})
  const { events } = await store.ask({ ask: 'changes', after: 0, limit: 1_000 })
  await kernel.kernel.close()
  await store.close()
  return events
}
