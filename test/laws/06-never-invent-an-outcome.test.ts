import { openMemory, simulatedClock, testKernel } from 'reeve/testing'
import { expect, test } from 'vitest'
import { everyStep } from './arbitrary.ts'

const YEAR_MS = 365 * 24 * 60 * 60 * 1_000
const PID = 'p_azzzzzzzzzzz'
const BOUND = { kind: 'tool', spec: { tool: 'work' } } as const
const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

test('an unseen end has its evidence and no result; a seen end has no evidence', () => {
  everyStep(({ next: { row } }) => {
    const { outcome } = row.record
    if (outcome === null) return
    expect(outcome.evidence !== null).toBe(outcome.status === 'abandoned')
    if (outcome.status === 'abandoned')
      expect([outcome.result, outcome.exitCode, outcome.signal]).toEqual([null, null, null])
  })
})

test('silence alone ends nothing, not in a year', async () => {
  const clock = simulatedClock()
  const store = await openMemory({ clock })
  const worker = await testKernel(store, { id: 'k_worker', clock, prove: () => 'alive' })
  const looker = await testKernel(store, { id: 'k_looker', clock, seed: 2, serves: [], prove: () => 'alive' })
  await worker.kernel.register([{ request: BOUND, actor: 'host', pid: PID }])
  await looker.kernel.register([{ request: OUTSIDE, actor: 'host', pid: 'p_bzzzzzzzzzzz' }])
  await worker.begun(PID)
  worker.crash()
  clock.jump(YEAR_MS)
  expect((await store.ask({ ask: 'holder', id: 'k_worker' }))?.expired).toBe(true)
  await looker.kernel.sweep()
  for (const pid of [PID, 'p_bzzzzzzzzzzz'])
    expect((await store.ask({ ask: 'process', pid }))?.record.outcome).toBeNull()
  await store.close()
})

test('a holder that is known to be dead leaves an outcome that is known to be unknown', async () => {
  const clock = simulatedClock()
  const store = await openMemory({ clock })
  const worker = await testKernel(store, { id: 'k_worker', clock })
  await worker.kernel.register([{ request: BOUND, actor: 'host', pid: PID }])
  await worker.begun(PID)
  worker.crash()
  const looker = await testKernel(store, { id: 'k_looker', clock, seed: 2, prove: () => 'dead' })
  const ended = await looker.kernel.waits.forEnd(PID, {})
  expect(ended.type === 'done' && ended.value.record.outcome).toEqual({
    status: 'abandoned',
    exitCode: null,
    signal: null,
    reason: 'holder_dead',
    source: null,
    result: null,
    evidence: 'holder_dead',
    startedAt: clock.now(),
    endedAt: clock.now(),
  })
  await looker.kernel.close()
  await store.close()
})

test('a wait that times out answers its caller, and does not change the process', async () => {
  const clock = simulatedClock()
  const store = await openMemory({ clock })
  const { kernel } = await testKernel(store, { id: 'k_one', clock })
  const [registered] = await kernel.register([{ request: OUTSIDE, actor: 'host', pid: PID }])
  const waiting = kernel.waits.forEnd(PID, { timeoutMs: 1_000 })
  await store.ask({ ask: 'process', pid: PID })
  clock.advance(1_000)
  expect(await waiting).toEqual({ type: 'timed_out' })
  expect(registered?.type === 'registered' && registered.row).toEqual(
    await store.ask({ ask: 'process', pid: PID }),
  )
  await kernel.close()
  await store.close()
})
