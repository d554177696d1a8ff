import { expect } from 'vitest'
import { gate, logOf, noteAnd, onEachStore, outcomeOf, serve, start } from './workflow-fixture.ts'

onEachStore('a cancelled function gets the reason at its next call, and may clean up', async (newStore) => {
  const reached = gate()
  const cleanedUp = gate<string>()
  const reeve = await serve(await newStore(), async (ctx) => {
    try {
      await ctx.step('endless', ({ abortSignal: signal }) => {
        reached.resolve()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      })
    } finally {
      cleanedUp.resolve(String(await ctx.step('after', () => 1).catch((error: Error) => error.message)))
    }
  })
  const pid = await start(reeve)
  await reached.promise
  await reeve.signal({ pid, signal: 'cancel', reason: 'changed my mind' })
  expect(await cleanedUp.promise).toBe('changed my mind')
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'cancelled', reason: 'changed my mind' })
  expect(await logOf(reeve, pid, 'step_ended')).toEqual([])
})

onEachStore('a paused function starts no step until it is resumed', async (newStore) => {
  const ran: string[] = []
  const [reached, go] = [gate(), gate()]
  const reeve = await serve(await newStore(), async (ctx) => {
    await ctx.step('one', () => {
      reached.resolve()
      return go.promise
    })
    await ctx.step('two', () => void ran.push('two'))
  })
  const pid = await start(reeve)
  await reached.promise
  await reeve.signal({ pid, signal: 'pause' })
  go.resolve()
  await reeve.waitFor({ pid, types: ['step_ended'] })
  expect(ran).toEqual([])
  expect(await reeve.show({ pid })).toMatchObject({ status: 'paused', journal: { last: 1 } })
  await reeve.signal({ pid, signal: 'resume' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed' })
  expect(ran).toEqual(['two'])
})

onEachStore(
  'a step that finishes within the grace period of a closing program does not run again',
  async (newStore) => {
    const store = await newStore()
    const ran: string[] = []
    const [reached, go] = [gate(), gate()]
    const code = (who: string) =>
      serve(
        store,
        async (ctx) => {
          const charged = await ctx.step('charge', async () => {
            reached.resolve()
            await go.promise
            return noteAnd(ran, who, who)
          })
          const shipped = await ctx.step('ship', () => noteAnd(ran, who, who))
          return [charged, shipped]
        },
        { graceMs: 60_000 },
      )
    const first = await code('first')
    const pid = await start(first)
    await reached.promise
    const closed = first.close()
    go.resolve()
    await closed
    const second = await code('second')
    expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: ['first', 'second'] })
    expect(ran).toEqual(['first', 'second'])
  },
)

onEachStore('the result of a step is recorded even if a stop was requested meanwhile', async (newStore) => {
  const [reached, go] = [gate(), gate()]
  const reeve = await serve(
    await newStore(),
    async (ctx) =>
      ctx.step('charge', async ({ abortSignal: signal }) => {
        signal.addEventListener('abort', () => go.resolve())
        reached.resolve()
        await go.promise
        return 'charged'
      }),
    { graceMs: 60_000 },
  )
  const pid = await start(reeve)
  await reached.promise
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
  expect(await logOf(reeve, pid, 'step_ended')).toMatchObject([{ name: 'charge', value: 'charged' }])
})

onEachStore(
  'a cancelled function that catches every error in a loop is ended, and does not block the program',
  async (newStore) => {
    let loops = 0
    const reeve = await serve(await newStore(), async (ctx) => {
      for (;;) {
        try {
          await ctx.step('poll', () => 1)
          await ctx.sleep(60_000)
        } catch {
          loops += 1
        }
      }
    })
    const pid = await start(reeve)
    await reeve.waitFor({ pid, types: ['wait_entered'] })
    await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
    expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
    expect(loops).toBeLessThan(2_000)
  },
)
