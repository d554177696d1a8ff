import { expect, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'
import { gate, outcomeOf, serve, stuck } from './workflow-fixture.ts'

const WORK = { kind: 'workflow', spec: { workflow: 'work' } } as const

test('a charge between steps is made once over all attempts', async () => {
  const store = tempStore()
  const reached = gate()
  const first = await serve(store, async (ctx) => {
    await ctx.charge({ modelCalls: 1 })
    return ctx.step('wait', () => stuck(reached))
  })
  const { record } = await first.spawn({ ...WORK, allowance: { modelCalls: 5 } })
  await reached.promise
  await first.close()
  const second = await serve(store, async (ctx) => {
    await ctx.charge({ modelCalls: 1 })
    await ctx.step('wait', () => null)
    const error = await ctx.charge({ modelCalls: 9 }).catch((refused: Error) => refused.message)
    return error ?? null
  })
  expect(await outcomeOf(second, record.pid)).toMatchObject({
    result: expect.stringContaining('limit:modelCalls'),
  })
  expect((await second.budget({ pid: record.pid })).used).toEqual({ modelCalls: 1 })
})

test('a charge inside a step counts once after a crash, and once for each retry', async () => {
  const store = tempStore()
  const reached = gate()
  const first = await serve(store, async (ctx) =>
    ctx.step('call', async () => {
      await ctx.charge({ tokensIn: 100 }, { done: true })
      return stuck(reached)
    }),
  )
  const { record } = await first.spawn(WORK)
  await reached.promise
  await first.close()
  const second = await serve(store, async (ctx) =>
    ctx.step(
      'call',
      async ({ attempt }) => {
        await ctx.charge({ tokensIn: 100 }, { done: true })
        await ctx.charge({ tokensOut: 10 }, { done: true })
        if (attempt === 1) throw new Error('once more')
        return 'done'
      },
      { retry: { times: 1, backoffMs: 1 } },
    ),
  )
  expect(await outcomeOf(second, record.pid)).toMatchObject({ result: 'done' })
  expect((await second.budget({ pid: record.pid })).used).toEqual({ tokensIn: 200, tokensOut: 20 })
})
