import { StoreError } from 'reeve'
import { expect } from 'vitest'
import { UnreliableStore } from './unreliable-store.ts'
import { gate, noteAnd, onEachStore, outcomeOf, serve, start } from './workflow-fixture.ts'

const QUIET = { onTrouble: () => {} }

onEachStore('an unreachable store delays parking, and the process does not fail', async (newStore) => {
  const unreliable = await UnreliableStore.at(await newStore())
  const reeve = await serve(unreliable.store, (ctx) => ctx.waitForSignal('go'), { parkAfterMs: 50 }, QUIET)
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  unreliable.unavailableFor = 'writes'
  await unreliable.failsFor(2)
  unreliable.unavailableFor = 'nothing'
  await reeve.waitFor({ pid, types: ['parked'] })
  await reeve.send({ pid, name: 'go', value: 'now' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'now' })
})

onEachStore('an unreachable store during a wait for a child does not fail the process', async (newStore) => {
  const unreliable = await UnreliableStore.at(await newStore())
  const [reached, go] = [gate(), gate()]
  const tools = { echo: ({ input }: { input: unknown }) => input as string }
  const code = async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    const child = await ctx.spawn({ kind: 'tool', spec: { tool: 'echo', input: 'hello' } })
    reached.resolve()
    await go.promise
    return (await ctx.wait(child)).result
  }
  const reeve = await serve(unreliable.store, code, {}, { tools, ...QUIET })
  const pid = await start(reeve)
  await reached.promise
  unreliable.unavailableFor = 'all'
  go.resolve()
  await unreliable.failsFor(2)
  unreliable.unavailableFor = 'nothing'
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'hello' })
})

onEachStore('a park with a delayed answer runs no step twice', async (newStore) => {
  const shared = await newStore()
  const unreliable = await UnreliableStore.at(shared)
  const ran: string[] = []
  const code = (who: string) => async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    await ctx.waitForSignal('go')
    return ctx.step('after', () => noteAnd(ran, who, who))
  }
  const first = await serve(unreliable.store, code('first'), { parkAfterMs: 1 })
  const pid = await start(first)
  const late = gate()
  unreliable.beforeAnswer = async () => {
    const row = await unreliable.inner.ask({ ask: 'process', pid })
    if (row?.record.parked === true) await late.promise
  }
  await first.waitFor({ pid, types: ['parked'] })
  const second = await serve(shared, code('second'))
  await second.send({ pid, name: 'go', value: null })
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed', result: 'second' })
  // The first kernel has received the end, too.
  await first.waitFor({ pid, types: ['ended'] })
  await new Promise((resolve) => void setImmediate(resolve))
  late.resolve()
  expect(ran).toEqual(['second'])
})

onEachStore('a park with a lost answer is effective', async (newStore) => {
  const unreliable = await UnreliableStore.at(await newStore())
  let begun = 0
  const code = async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    begun += 1
    return ctx.waitForSignal('go')
  }
  const reeve = await serve(unreliable.store, code, { parkAfterMs: 1 }, QUIET)
  const pid = await start(reeve)
  const lost = gate()
  let asked = 0
  unreliable.beforeAnswer = async () => {
    const row = await unreliable.inner.ask({ ask: 'process', pid })
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
