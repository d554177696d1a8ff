import { StoreError } from 'reeve'
import { expect } from 'vitest'
import { gate, noted, onEachStore, outcomeOf, serve, start } from './bed.ts'
import { UpsetStore } from './upset-store.ts'

const QUIET = { onTrouble: () => {} }

onEachStore('an unreachable store delays parking, and fails nothing', async (place) => {
  const upset = await UpsetStore.at(await place())
  const reeve = await serve(upset.store, (ctx) => ctx.waitForSignal('go'), { parkAfterMs: 50 }, QUIET)
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  upset.away = 'writes'
  await upset.refuses(2)
  upset.away = 'nothing'
  await reeve.waitFor({ pid, types: ['parked'] })
  await reeve.send({ pid, name: 'go', value: 'now' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'now' })
})

onEachStore('an unreachable store at the spawn of a child fails nothing', async (place) => {
  const upset = await UpsetStore.at(await place())
  const [reached, go] = [gate(), gate()]
  const tools = { echo: ({ input }: { input: unknown }) => input as string }
  const code = async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    const child = await ctx.spawn({ kind: 'tool', spec: { tool: 'echo', input: 'hello' } })
    reached.resolve()
    await go.promise
    return (await ctx.wait(child)).result
  }
  const reeve = await serve(upset.store, code, {}, { tools, ...QUIET })
  const pid = await start(reeve)
  await reached.promise
  upset.away = 'all'
  go.resolve()
  await upset.refuses(2)
  upset.away = 'nothing'
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'hello' })
})

onEachStore('a park whose answer comes late runs nothing twice', async (place) => {
  const shared = await place()
  const upset = await UpsetStore.at(shared)
  const ran: string[] = []
  const code = (who: string) => async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    await ctx.waitForSignal('go')
    return ctx.step('after', () => noted(ran, who, who))
  }
  const first = await serve(upset.store, code('first'), { parkAfterMs: 1 })
  const pid = await start(first)
  const late = gate()
  upset.answered = async () => {
    const row = await upset.inner.ask({ ask: 'process', pid })
    if (row?.record.parked === true) await late.promise
  }
  await first.waitFor({ pid, types: ['parked'] })
  const second = await serve(shared, code('second'))
  await second.send({ pid, name: 'go', value: null })
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: 'second' })
  // The first one has heard of it too.
  await first.waitFor({ pid, types: ['ended'] })
  await new Promise((resolve) => void setImmediate(resolve))
  late.resolve()
  expect(ran).toEqual(['second'])
})

onEachStore('a park whose answer is lost still counts', async (place) => {
  const upset = await UpsetStore.at(await place())
  let begun = 0
  const code = async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    begun += 1
    return ctx.waitForSignal('go')
  }
  const reeve = await serve(upset.store, code, { parkAfterMs: 1 }, QUIET)
  const pid = await start(reeve)
  const lost = gate()
  let asked = 0
  upset.answered = async () => {
    const row = await upset.inner.ask({ ask: 'process', pid })
    if (row?.record.parked !== true) return
    asked += 1
    if (asked === 1) throw new StoreError('outcome_unknown', 'The connection was cut.', 'Look.')
    lost.resolve()
  }
  await lost.promise
  await reeve.send({ pid, name: 'go', value: 'now' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'now' })
  expect(begun).toBe(2)
})
