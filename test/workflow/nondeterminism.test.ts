import { expect, test } from 'vitest'
import { Nondeterminism } from '../../src/workflow/nondeterminism.ts'
import { gate, onEachStore, outcomeOf, serve, start, stuck } from './workflow-fixture.ts'

onEachStore(
  'code that changed under a running process is detected, and both lists of steps are reported',
  async (newStore) => {
    const store = await newStore()
    const reached = gate()
    const first = await serve(store, async (ctx) => {
      await ctx.step('draft', () => 1)
      await ctx.step('review', () => 2)
      await ctx.step('publish', () => stuck(reached))
    })
    const pid = await start(first)
    await reached.promise
    await first.close()
    let ran = 0
    const second = await serve(store, async (ctx) => {
      await ctx.step('draft', () => ran++)
      await ctx.sleep(1)
      await ctx.step('review', () => ran++)
    })
    expect(await outcomeOf(second, pid)).toMatchObject({
      status: 'failed',
      reason: 'nondeterminism',
      result: {
        stepIndex: 2,
        message: 'At step 2 the log has step review, and the code came to sleep.',
        recorded: ['step draft', 'step review'],
        met: ['step draft', 'sleep'],
      },
    })
    expect(ran).toBe(0)
  },
)

onEachStore('code that ends before all recorded steps is detected, too', async (newStore) => {
  const store = await newStore()
  const reached = gate()
  const first = await serve(store, async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('two', () => 2)
    await ctx.step('three', () => stuck(reached))
  })
  const pid = await start(first)
  await reached.promise
  await first.close()
  const second = await serve(store, async (ctx) => ctx.step('one', () => 1))
  expect(await outcomeOf(second, pid)).toMatchObject({
    status: 'failed',
    reason: 'nondeterminism',
    result: { stepIndex: 2, recorded: ['step one', 'step two'], met: ['step one'] },
  })
})

onEachStore('code that throws before all recorded steps counts as changed', async (newStore) => {
  const store = await newStore()
  const first = await serve(store, async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('two', () => 2)
    await ctx.waitForSignal('go')
  })
  const pid = await start(first)
  await first.waitFor({ pid, types: ['wait_entered'] })
  await first.close()
  const second = await serve(store, async (ctx) => {
    await ctx.step('one', () => 1)
    throw new Error('a new check failed')
  })
  expect(await outcomeOf(second, pid)).toMatchObject({
    status: 'failed',
    reason: 'nondeterminism',
    result: {
      stepIndex: 2,
      message: 'At step 2 the log has step two, and the code threw: a new check failed',
      recorded: ['step one', 'step two', 'signal go'],
      met: ['step one'],
    },
  })
})

onEachStore('reordered steps are detected', async (newStore) => {
  const store = await newStore()
  const reached = gate()
  const first = await serve(store, async (ctx) => {
    await ctx.step('pack', () => 1)
    await ctx.step('ship', () => 2)
    await ctx.step('bill', () => stuck(reached))
  })
  const pid = await start(first)
  await reached.promise
  await first.close()
  const second = await serve(store, async (ctx) => {
    await ctx.step('ship', () => 2)
    await ctx.step('pack', () => 1)
  })
  expect(await outcomeOf(second, pid)).toMatchObject({
    reason: 'nondeterminism',
    result: { stepIndex: 1, recorded: ['step pack', 'step ship'], met: ['step ship'] },
  })
})

test('a change deep in a long history is reported with its context', () => {
  const recorded = new Map(Array.from({ length: 200_000 }, (_, index) => [index + 1, 'step a']))
  const met = Array.from({ length: 100_000 }, () => 'step a').concat('step b')
  const { report } = new Nondeterminism(100_001, { recorded, last: 200_000, met })
  expect(report).toMatchObject({
    stepIndex: 100_001,
    message: 'At step 100001 the log has step a, and the code came to step b.',
    from: 99_501,
  })
  expect((report as { recorded: string[] }).recorded).toHaveLength(1_001)
})
