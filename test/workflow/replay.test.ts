import { expect } from 'vitest'
import { gate, logOf, noteAnd, onEachStore, outcomeOf, serve, start, stuck } from './workflow-fixture.ts'

onEachStore(
  'the next kernel does not repeat a recorded step, and runs an interrupted step again',
  async (newStore) => {
    const store = await newStore()
    const ran: string[] = []
    const reached = gate()
    const code = (last: () => Promise<string>) =>
      serve(store, async (ctx) => {
        const one = await ctx.step('one', () => noteAnd(ran, 'one', { a: [1, 'x'] }))
        const nothing = await ctx.step('nothing', () => void ran.push('nothing'))
        const two = await ctx.step('two', last)
        return { one, isNothing: nothing === undefined, two }
      })
    const first = await code(() => noteAnd(ran, 'two', stuck<string>(reached)))
    const pid = await start(first)
    await reached.promise
    await first.close()
    const second = await code(async () => noteAnd(ran, 'two again', 'done'))
    expect(await outcomeOf(second, pid)).toMatchObject({
      status: 'completed',
      result: { one: { a: [1, 'x'] }, isNothing: true, two: 'done' },
    })
    expect(ran).toEqual(['one', 'nothing', 'two', 'two again'])
    expect(await logOf(second, pid, 'step_ended')).toMatchObject([
      { stepIndex: 1, kind: 'step', name: 'one', how: 'done', tries: 1, value: { a: [1, 'x'] } },
      { stepIndex: 2, name: 'nothing' },
      { stepIndex: 3, name: 'two', value: 'done' },
    ])
  },
)

onEachStore('time, random numbers and ids are the same in every attempt', async (newStore) => {
  const store = await newStore()
  const seen: unknown[] = []
  const reached = gate()
  const code = (last: () => Promise<unknown>) =>
    serve(store, async (ctx) => {
      const values = [ctx.now(), ctx.random(), ctx.uuid()]
      await ctx.step('inside', () => [ctx.now(), ctx.random(), ctx.uuid()])
      seen.push([...values, ctx.now(), ctx.random(), ctx.uuid()])
      await ctx.step('last', last)
      return ctx.uuid()
    })
  const first = await code(() => stuck(reached))
  const pid = await start(first)
  await reached.promise
  await first.close()
  const second = await code(async () => {})
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed' })
  expect(seen).toHaveLength(2)
  expect(seen[1]).toEqual(seen[0])
  const [, random, uuid, , otherRandom, otherUuid] = seen[0] as [
    number,
    number,
    string,
    number,
    number,
    string,
  ]
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set([random, otherRandom, uuid, otherUuid]).size).toBe(4)
})

onEachStore('concurrent flows reach the same steps in the same order in every attempt', async (newStore) => {
  const store = await newStore()
  const slow = gate()
  const cut = gate()
  const ran: string[] = []
  const code = (last: () => Promise<unknown>, isSlow: boolean) =>
    serve(store, async (ctx) => {
      const flow = async (name: string, first: () => Promise<unknown>) => {
        await ctx.step(`${name}1`, () => noteAnd(ran, `${name}1`, first()))
        await Promise.resolve()
        return ctx.step(`${name}2`, () => noteAnd(ran, `${name}2`, name))
      }
      const both = await Promise.all([
        flow('a', async () => (isSlow ? await slow.promise : undefined)),
        flow('b', async () => {}),
      ])
      await ctx.step('last', last)
      return both
    })
  const first = await code(() => stuck(cut), true)
  const pid = await start(first)
  await first.waitFor({ pid, types: ['step_ended'] })
  await expect.poll(() => ran).toEqual(['a1', 'b1', 'b2'])
  slow.resolve()
  await cut.promise
  await first.close()
  const second = await code(async () => {}, false)
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: ['a', 'b'] })
  expect(ran).toEqual(['a1', 'b1', 'b2', 'a2'])
})

onEachStore('a history longer than one page is replayed completely', async (newStore) => {
  const store = await newStore()
  const reached = gate()
  const ran: number[] = []
  const code = (last: () => Promise<unknown>) =>
    serve(store, async (ctx) => {
      let length = 0
      for (let page = 0; page < 20; page++)
        length += (await ctx.step('page', () => noteAnd(ran, page, 'x'.repeat(900_000)))).length
      await ctx.step('last', last)
      return length
    })
  const first = await code(() => stuck(reached))
  const pid = await start(first)
  await reached.promise
  const { events, count } = await first.events({ pid, limit: 1_000 })
  expect(count).toBe(22)
  expect(events.length).toBeLessThan(15)
  await first.close()
  const second = await code(async () => {})
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: 18_000_000 })
  expect(ran).toHaveLength(20)
})

onEachStore('code that awaits its calls in another order is accepted', async (newStore) => {
  const store = await newStore()
  const [slow, reached] = [gate(), gate()]
  const first = await serve(store, async (ctx) => {
    const a = ctx.step('a', () => slow.promise)
    await ctx.step('b', () => 'b')
    await ctx.step('c', () => 'c')
    slow.resolve()
    await a
    await ctx.step('last', () => stuck(reached))
  })
  const pid = await start(first)
  await reached.promise
  await first.close()
  const second = await serve(store, async (ctx) => {
    const a = ctx.step('a', () => {})
    await ctx.step('b', () => 'not again')
    await a
    const c = await ctx.step('c', () => 'not again')
    return ctx.step('last', () => c)
  })
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: 'c' })
})
