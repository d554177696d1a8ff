import { StepError } from 'reeve'
import { expect } from 'vitest'
import { gate, logOf, onEachStore, outcomeOf, serve, start, stuck } from './workflow-fixture.ts'

onEachStore('a step is retried by its policy, and tries before a restart count', async (newStore) => {
  const store = await newStore()
  const tries: number[] = []
  const reached = gate()
  const code = (isStuck: boolean) =>
    serve(store, async (ctx) =>
      ctx.step(
        'flaky',
        ({ attempt }) => {
          tries.push(attempt)
          return isStuck && attempt === 2 ? stuck(reached) : Promise.reject(new Error(`try ${attempt}`))
        },
        { retry: { times: 2, backoffMs: 1 } },
      ),
    )
  const first = await code(true)
  const pid = await start(first)
  await reached.promise
  expect(await logOf(first, pid, 'step_tried')).toMatchObject([
    { stepIndex: 1, name: 'flaky', tries: 1, error: 'try 1', retryAt: expect.any(Number) },
  ])
  await first.close()
  const second = await code(false)
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'failed', reason: 'try 3' })
  expect(tries).toEqual([1, 2, 2, 3])
})

onEachStore('a backoff is kept across a restart', async (newStore) => {
  const store = await newStore()
  const tries: number[] = []
  const flaky = ({ attempt }: { attempt: number }) => {
    tries.push(attempt)
    return Promise.reject(new Error('not now'))
  }
  const retry = { times: 2, backoffMs: 3_600_000 }
  const first = await serve(store, async (ctx) => ctx.step('flaky', flaky, { retry }))
  const pid = await start(first)
  await first.waitFor({ pid, types: ['step_tried'] })
  await first.close()
  const begun = gate()
  const second = await serve(store, async (ctx) => {
    const answer = ctx.step('flaky', flaky, { retry })
    await ctx.step('beside', () => begun.resolve())
    return answer
  })
  await begun.promise
  expect(await second.show({ pid })).toMatchObject({ outcome: null })
  expect(tries).toEqual([1])
})

onEachStore(
  'the process fails with the last error of a step, unless the code catches it',
  async (newStore) => {
    const reeve = await serve(await newStore(), async (ctx, input) => {
      const flaky = () =>
        ctx.step('flaky', ({ attempt }) => Promise.reject(new Error(`try ${attempt}`)), {
          retry: { times: 2, backoffMs: 0 },
        })
      if (input === null) return flaky()
      try {
        return await flaky()
      } catch (error) {
        return { caught: error instanceof StepError && `${error.step}: ${error.message}` }
      }
    })
    expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({ status: 'failed', reason: 'try 3' })
    const caught = await outcomeOf(reeve, await start(reeve, 'catch'))
    expect(caught).toMatchObject({ status: 'completed', result: { caught: 'flaky: try 3' } })
  },
)

onEachStore('a failed step fails in later attempts too, without running', async (newStore) => {
  const store = await newStore()
  const reached = gate()
  let ran = 0
  const code = (then: () => Promise<unknown>) =>
    serve(store, async (ctx) => {
      const failed = await ctx.step('fail', () => Promise.reject(new Error(`no ${++ran}`))).catch(String)
      await ctx.step('then', then)
      return failed
    })
  const first = await code(() => stuck(reached))
  const pid = await start(first)
  await reached.promise
  await first.close()
  const second = await code(async () => {})
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: 'StepError: no 1' })
  expect(ran).toBe(1)
})

onEachStore('a terminal error is not retried', async (newStore) => {
  const reeve = await serve(
    await newStore(),
    async (ctx) => ctx.step('charge', ({ attempt }) => Promise.reject(new Error(`declined ${attempt}`))),
    { retry: { times: 5, backoffMs: 0, when: (error) => !String(error).includes('declined') } },
  )
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({ reason: 'declined 1' })
})

onEachStore('an invalid retry policy is refused, and many tries without backoff work', async (newStore) => {
  const reeve = await serve(await newStore(), async (ctx, input) => {
    const flaky = ({ attempt }: { attempt: number }) =>
      attempt > 1_030 ? attempt : Promise.reject(new Error('not yet'))
    return ctx.step('flaky', flaky, { retry: input as never })
  })
  expect(await outcomeOf(reeve, await start(reeve, { times: 2_000, backoffMs: 0 }))).toMatchObject({
    status: 'completed',
    result: 1_031,
  })
  for (const policy of [{ times: -1 }, { times: 2, backoffMs: -5 }, { times: 1, factor: 0 }, { times: 'x' }])
    expect(await outcomeOf(reeve, await start(reeve, policy))).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('retry'),
    })
})
