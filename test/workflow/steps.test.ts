import { embed, type RefusedError } from 'reeve'
import { expect, onTestFinished } from 'vitest'
import { onEachStore, outcomeOf, serve, start, storeAt } from './workflow-fixture.ts'

onEachStore(
  'a workflow of embed completes with its return value, and fails with the error that it throws',
  async (newStore) => {
    const reeve = await embed({
      store: await storeAt(await newStore()),
      workflows: {
        double: async (ctx, input: number) => ctx.step('multiply', () => input * 2),
        quiet: async (ctx) => {
          await ctx.step('nothing', () => {})
        },
        broken: async (ctx) => ctx.step('read', () => Promise.reject(new Error('no such file'))),
      },
    })
    const ends = async (workflow: string, input: number) => {
      const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow, input } })
      return outcomeOf(reeve, record.pid)
    }
    expect(await ends('double', 21)).toMatchObject({ status: 'completed', result: 42 })
    expect(await ends('quiet', 0)).toMatchObject({ status: 'completed', result: null })
    expect(await ends('broken', 0)).toMatchObject({ status: 'failed', reason: 'no such file' })
    await reeve.close()
  },
)

onEachStore('a result that cannot be stored fails the step with the reason', async (newStore) => {
  const reeve = await serve(await newStore(), async (ctx, input) =>
    ctx.step('strange', () => (input === 'large' ? 'x'.repeat(2 ** 21) : { at: [Symbol('s')] })),
  )
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({
    status: 'failed',
    reason: 'The result of step strange cannot be stored: the value at /at/0 is a symbol.',
  })
  expect(await outcomeOf(reeve, await start(reeve, 'large'))).toMatchObject({
    status: 'failed',
    reason: expect.stringMatching(/^The result of step strange has \d+ bytes/),
  })
})

onEachStore('calls of the context inside a step are refused', async (newStore) => {
  const reeve = await serve(await newStore(), async (ctx) =>
    ctx.step('outer', () => ctx.step('inner', () => 1)),
  )
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({
    status: 'failed',
    reason: 'step inner was called inside the step outer.',
  })
})

onEachStore('a failed call that is not awaited causes no unhandled rejection', async (newStore) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const reeve = await serve(await newStore(), async (ctx) => {
    void ctx.step('aside', () => Promise.reject(new Error('broken')))
    void ctx.waitForSignal('never')
    return ctx.waitForSignal('go')
  })
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['step_ended'] })
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'cancelled' })
  await new Promise((resolve) => void setImmediate(resolve))
  expect(unhandled).toEqual([])
})

onEachStore('a second function with the same name is refused', async (newStore) => {
  const reeve = await serve(await newStore(), async () => 1)
  await expect(reeve.workflow('work', async () => 2)).rejects.toMatchObject({ code: 'conflict' })
  await expect(reeve.workflow('', async () => 2)).rejects.toMatchObject({ code: 'invalid_input' })
})

onEachStore(
  'a function that is spawned inside a step of another function runs its own steps',
  async (newStore) => {
    const reeve = await serve(await newStore(), async (ctx, input) => {
      if (input === 'child') return ctx.step('inner', () => 1)
      return ctx.step('outer', async () => {
        const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work', input: 'child' } })
        return { child: (await outcomeOf(reeve, record.pid))?.status ?? 'none' }
      })
    })
    expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({
      status: 'completed',
      result: { child: 'completed' },
    })
  },
)

onEachStore('an unknown option is refused before the step runs, with a suggestion', async (newStore) => {
  let ran = 0
  const reeve = await serve(await newStore(), async (ctx, input) => {
    const options = input as never
    if (input === 'signal') return ctx.waitForSignal('go', { timeout: 1 } as never)
    return ctx.step('pay', () => ++ran, options).catch((error: RefusedError) => [error.message, error.remedy])
  })
  expect(await outcomeOf(reeve, await start(reeve, { retries: { times: 3 } }))).toMatchObject({
    result: ['The step pay takes retry; there is no option "retries".', 'Did you mean retry?'],
  })
  expect(await outcomeOf(reeve, await start(reeve, { timeoutMs: 5 }))).toMatchObject({
    result: ['The step pay takes retry; there is no option "timeoutMs".', 'Leave timeoutMs out.'],
  })
  expect(await outcomeOf(reeve, await start(reeve, { retry: { times: 1, backoff: 5 } }))).toMatchObject({
    result: [
      'A retry policy takes times, backoffMs, factor, maxBackoffMs, when; there is no option "backoff".',
      'Did you mean backoffMs?',
    ],
  })
  expect(await outcomeOf(reeve, await start(reeve, 3))).toMatchObject({
    result: ['The step pay takes retry, as an object.', 'Give the options as an object.'],
  })
  expect(await outcomeOf(reeve, await start(reeve, 'signal'))).toMatchObject({
    status: 'failed',
    reason: 'The signal go takes timeoutMs; there is no option "timeout".',
  })
  expect(ran).toBe(0)
})
