import { MemoryTables } from 'reeve/testing'
import { expect, test } from 'vitest'
import { gate, logOf, noteAnd, onEachStore, outcomeOf, serve, start } from './workflow-fixture.ts'

const SOON = { parkAfterMs: 1 }

onEachStore('signals are taken in order, sent before the wait or after it', async (newStore) => {
  const reeve = await serve(await newStore(), async (ctx) =>
    [
      await ctx.waitForSignal('word'),
      await ctx.waitForSignal('word'),
      await ctx.waitForSignal('other', { timeoutMs: 0 }),
    ].map((value) => value ?? 'nothing'),
  )
  const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work' } })
  await reeve.send({ pid: record.pid, name: 'word', value: 'first' })
  await reeve.waitFor({ pid: record.pid, types: ['wait_entered'] })
  await reeve.send({ pid: record.pid, name: 'word', value: { second: true } })
  expect(await outcomeOf(reeve, record.pid)).toMatchObject({
    status: 'completed',
    result: ['first', { second: true }, 'nothing'],
  })
})

onEachStore('a key accepts one answer, before the wait or during it', async (newStore) => {
  const keys = [gate<string>(), gate<string>()]
  const go = gate()
  const reeve = await serve(await newStore(), async (ctx) => {
    keys[0]?.resolve(await ctx.keyFor('ok'))
    await ctx.step('work', () => go.promise)
    const one = await ctx.waitForSignal('ok')
    keys[1]?.resolve(await ctx.keyFor('ok'))
    return [one, await ctx.waitForSignal('ok')]
  })
  const pid = await start(reeve)
  const key = (await keys[0]?.promise) ?? ''
  expect(await reeve.answer({ key, value: 'yes' })).toMatchObject({ type: 'accepted' })
  expect(await reeve.answer({ key, value: 'no' })).toMatchObject({ type: 'already_resolved' })
  go.resolve()
  const next = (await keys[1]?.promise) ?? ''
  expect(await reeve.answer({ key: next, value: 'sure' })).toMatchObject({ type: 'accepted' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: ['yes', 'sure'] })
})

onEachStore('a waiting function is parked, and a signal resumes it', async (newStore) => {
  const store = await newStore()
  let begun = 0
  const steps: string[] = []
  const reeve = await serve(
    store,
    async (ctx) => {
      begun += 1
      await ctx.step('before', () => void steps.push('before'))
      const said = await ctx.waitForSignal('approved')
      return ctx.step('after', () => noteAnd(steps, 'after', said))
    },
    SOON,
  )
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['parked'] })
  expect(await reeve.show({ pid })).toMatchObject({
    status: 'waiting',
    parked: true,
    wait: { on: 'signal', name: 'approved', ordinal: 1, stepIndex: 2 },
  })
  await reeve.send({ pid, name: 'approved', value: 'by me' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'by me' })
  expect(steps).toEqual(['before', 'after'])
  expect(begun).toBe(2)
})

onEachStore(
  'any kernel that serves a parked function can resume it, and resuming is not a new attempt',
  async (newStore) => {
    const store = await newStore()
    const code = async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
      const got: unknown[] = []
      for (let round = 0; round < 8; round++) got.push(await ctx.waitForSignal('next'))
      return got as number[]
    }
    const first = await serve(store, code, SOON)
    const pid = await start(first)
    await first.waitFor({ pid, types: ['parked'] })
    await first.close()
    const second = await serve(store, code, SOON)
    for (let round = 0; round < 8; round++) {
      const { revision } = await second.show({ pid })
      await second.send({ pid, name: 'next', value: round })
      if (round < 7) await second.waitFor({ pid, types: ['parked'], after: revision })
    }
    const ended = await second.wait({ pid })
    expect(ended).toMatchObject({ record: { attempts: 1, outcome: { result: [0, 1, 2, 3, 4, 5, 6, 7] } } })
  },
)

onEachStore('a sleep ends when it is due, even if the function is parked', async (newStore) => {
  const store = await newStore()
  const reeve = await serve(
    store,
    async (ctx) => {
      const before = ctx.now()
      await ctx.sleep(150)
      return ctx.now() - before >= 150
    },
    SOON,
  )
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['parked'] })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: true })
  expect(await logOf(reeve, pid, 'wait_left')).toMatchObject([{ on: 'timer', how: 'due', stepIndex: 1 }])
})

onEachStore('a sleep keeps its deadline across a restart', async (newStore) => {
  const store = await newStore()
  const code = async (ctx: Parameters<Parameters<typeof serve>[1]>[0]) => {
    await ctx.sleep(3_600_000)
  }
  const first = await serve(store, code)
  const pid = await start(first)
  await first.waitFor({ pid, types: ['wait_entered'] })
  await first.close()
  const second = await serve(store, code)
  await second.waitFor({ pid, types: ['wait_entered'], after: (await second.show({ pid })).revision - 1 })
  const entered = (await logOf(second, pid, 'wait_entered')) as { until: number }[]
  expect(entered[1]?.until).toBe(entered[0]?.until)
})

onEachStore('the timeout of a signal ends the wait of a parked function', async (newStore) => {
  const reeve = await serve(
    await newStore(),
    async (ctx) => (await ctx.waitForSignal('never', { timeoutMs: 150 })) ?? 'timed out',
    SOON,
  )
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['parked'] })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'timed out' })
})

onEachStore('a child is spawned once, and its end resumes the parked parent', async (newStore) => {
  const store = await newStore()
  const tools = {
    ask: async (tool: { waitForSignal(name: string): Promise<unknown> }) => {
      await tool.waitForSignal('answer')
      return 'from the child'
    },
  }
  const reeve = await serve(
    store,
    async (ctx) => {
      const child = await ctx.spawn({ kind: 'tool', spec: { tool: 'ask' } })
      const { status, result } = await ctx.wait(child)
      return { status, result }
    },
    SOON,
    { tools },
  )
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['parked'] })
  const [spawned] = (await logOf(reeve, pid, 'child_registered')) as { pid: string; stepIndex: number }[]
  expect(spawned).toMatchObject({ kind: 'tool', label: 'ask', stepIndex: 1 })
  expect(await reeve.show({ pid: spawned?.pid ?? '' })).toMatchObject({ parent: pid, awaitedBy: [pid] })
  await reeve.send({ pid: spawned?.pid ?? '', name: 'answer', value: null })
  expect(await outcomeOf(reeve, pid)).toMatchObject({
    status: 'completed',
    result: { status: 'completed', result: 'from the child' },
  })
  expect(await logOf(reeve, pid, 'child_registered')).toHaveLength(1)
})

onEachStore('a function can wait for all of its children, or for the first', async (newStore) => {
  const tools = {
    echo: ({ input }: { input: unknown }) => input as number,
    never: () => new Promise<null>(() => {}),
  }
  const reeve = await serve(
    await newStore(),
    async (ctx, input) => {
      if (input === 'all') {
        const run = async (n: number) => {
          const child = await ctx.spawn({ kind: 'tool', spec: { tool: 'echo', input: n } })
          return (await ctx.wait(child)).result
        }
        return Promise.all([1, 2, 3, 4, 5].map(run))
      }
      const slow = await ctx.spawn({ kind: 'tool', spec: { tool: 'never' } })
      const fast = await ctx.spawn({ kind: 'tool', spec: { tool: 'echo', input: 'fast' } })
      return (await Promise.race([ctx.wait(slow), ctx.wait(fast)])).result
    },
    {},
    { tools },
  )
  expect(await outcomeOf(reeve, await start(reeve, 'all'))).toMatchObject({ result: [1, 2, 3, 4, 5] })
  expect(await outcomeOf(reeve, await start(reeve, 'race'))).toMatchObject({ result: 'fast' })
})

onEachStore(
  'a race between a signal and a timer has one winner, also for a parked function',
  async (newStore) => {
    const reeve = await serve(
      await newStore(),
      async (ctx) => {
        const first = await Promise.race([
          ctx.waitForSignal('go').then(() => 'signal'),
          ctx.sleep(3_600_000).then(() => 'time'),
        ])
        return ctx.step('after', () => first)
      },
      SOON,
    )
    const pid = await start(reeve)
    await reeve.waitFor({ pid, types: ['parked'] })
    expect(await reeve.show({ pid })).toMatchObject({ wait: { on: 'signal' }, moreWaits: [{ on: 'timer' }] })
    await reeve.send({ pid, name: 'go', value: null })
    expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'signal' })
  },
)

onEachStore('a cancelled parked function ends at once', async (newStore) => {
  const reeve = await serve(await newStore(), (ctx) => ctx.waitForSignal('never'), SOON)
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['parked'] })
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  expect(await reeve.show({ pid })).toMatchObject({ status: 'cancelled', parked: false, wait: null })
})

onEachStore(
  'a paused parked function takes its signal, and continues when it is resumed',
  async (newStore) => {
    const reeve = await serve(await newStore(), (ctx) => ctx.waitForSignal('go'), SOON)
    const pid = await start(reeve)
    await reeve.waitFor({ pid, types: ['parked'] })
    await reeve.signal({ pid, signal: 'pause' })
    await reeve.send({ pid, name: 'go', value: 7 })
    expect(await reeve.show({ pid })).toMatchObject({ status: 'paused', pausedFrom: 'queued', wait: null })
    await reeve.signal({ pid, signal: 'resume' })
    expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 7 })
  },
)

onEachStore('a refused spawn or wait is an error that the function can catch', async (newStore) => {
  const reeve = await serve(await newStore(), async (ctx) => {
    const no = (error: Error) => error.message
    const child = await ctx.spawn({ kind: 'tool', spec: { tool: 'x' }, envRef: 'nowhere' }).catch(no)
    return [child as string, await ctx.wait('p_nobodynobody').then(() => '', no)]
  })
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({
    result: [
      'spawn was given something it cannot use: envRef: must be the reference of an environment.',
      'There is no process p_nobodynobody.',
    ],
  })
})

onEachStore('a fractional wait time is accepted, and one beyond the limit is refused', async (newStore) => {
  const reeve = await serve(
    await newStore(),
    async (ctx, ms) => {
      await ctx.sleep(Number(ms))
      await ctx.waitForSignal('never', { timeoutMs: Number(ms) })
      return 'awake'
    },
    SOON,
  )
  expect(await outcomeOf(reeve, await start(reeve, 30.5))).toMatchObject({
    status: 'completed',
    result: 'awake',
  })
  expect(await outcomeOf(reeve, await start(reeve, 1e20))).toMatchObject({
    status: 'failed',
    reason: '100000000000000000000 is no time to wait.',
  })
})

onEachStore('a function is parked during a long backoff', async (newStore) => {
  const reeve = await serve(
    await newStore(),
    (ctx) =>
      ctx.step('flaky', () => Promise.reject(new Error('not now')), {
        retry: { times: 2, backoffMs: 3_600_000, maxBackoffMs: 3_600_000 },
      }),
    SOON,
  )
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['parked'] })
  expect(await reeve.show({ pid })).toMatchObject({
    status: 'waiting',
    parked: true,
    wait: { on: 'timer', name: 'retry-1', ordinal: 1 },
  })
})

onEachStore(
  'a function that is parked during a backoff retries the step when it is due',
  async (newStore) => {
    const tries: number[] = []
    let begun = 0
    const reeve = await serve(
      await newStore(),
      async (ctx) => {
        begun += 1
        return ctx.step(
          'flaky',
          ({ attempt }) => {
            tries.push(attempt)
            return attempt > 2 ? 'done' : Promise.reject(new Error('not now'))
          },
          { retry: { times: 2, backoffMs: 150, factor: 1 } },
        )
      },
      SOON,
    )
    const pid = await start(reeve)
    expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'done' })
    expect(tries).toEqual([1, 2, 3])
    // On a busy machine a backoff may be over before the function is parked.
    expect(begun).toBe(1 + (await logOf(reeve, pid, 'parked')).length)
    expect(await logOf(reeve, pid, 'wait_left')).toMatchObject([
      { on: 'timer', name: 'retry-1', ordinal: 1, how: 'due' },
      { on: 'timer', name: 'retry-1', ordinal: 2, how: 'due' },
    ])
  },
)

test('waits beyond the limit of a process fail, and the others continue', async () => {
  const reeve = await serve(new MemoryTables(), async (ctx) => {
    const waits = Array.from({ length: 1_001 }, () => ctx.waitForSignal('go', { timeoutMs: 600_000 }))
    return waits.at(-1)?.catch((error: Error) => error.message)
  })
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({
    status: 'completed',
    result: expect.stringMatching(/already waits on signal go and 999 more/),
  })
})

onEachStore('another kernel stops a parked function at its run limit', async (newStore) => {
  const store = await newStore()
  const first = await serve(store, (ctx) => ctx.waitForSignal('never'), SOON)
  const spec = { workflow: 'work', input: null }
  const { record } = await first.spawn({ kind: 'workflow', spec, limits: { runMs: 2_000 } })
  await first.waitFor({ pid: record.pid, types: ['parked'] })
  await first.close()
  const second = await serve(store, (ctx) => ctx.waitForSignal('never'), SOON)
  expect(await outcomeOf(second, record.pid)).toMatchObject({ status: 'cancelled', reason: 'limit:runMs' })
})

/** No workflow is parked here: a slot that becomes free was lent. */
const NEVER_PARKED = { parkAfterMs: 3_600_000 }

test('a workflow that waits for its child gives its slot to it, through three levels', async () => {
  const reeve = await serve(
    new MemoryTables(),
    async (ctx, input) => {
      const levels = Number(input)
      if (levels === 0) return 0
      const child = await ctx.spawn({ kind: 'workflow', spec: { workflow: 'work', input: levels - 1 } })
      const { result } = await ctx.wait(child)
      return Number(result) + 1
    },
    NEVER_PARKED,
    { concurrency: 1 },
  )
  expect(await outcomeOf(reeve, await start(reeve, 3))).toMatchObject({ status: 'completed', result: 3 })
})

test('twenty children run in the slot of a workflow that waits for all of them at once, and has ended a step', async () => {
  const reeve = await serve(
    new MemoryTables(),
    async (ctx) => {
      const children = await Promise.all(
        Array.from({ length: 20 }, (_, input) => ctx.spawn({ kind: 'tool', spec: { tool: 'same', input } })),
      )
      const [first, ...outcomes] = await Promise.all([
        ctx.step('first', () => 1_000),
        ...children.map((child) => ctx.wait(child)),
      ])
      return outcomes.reduce((sum, { result }) => sum + Number(result), first)
    },
    NEVER_PARKED,
    { concurrency: 1, tools: { same: ({ input }) => input } },
  )
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({ status: 'completed', result: 1_190 })
})

test('a workflow keeps its slot while a step runs beside a wait', async () => {
  const release = gate()
  const begun: string[] = []
  const reeve = await serve(
    new MemoryTables(),
    async (ctx) => {
      await Promise.all([
        ctx.waitForSignal('go'),
        ctx.step('busy', async () => {
          await release.promise
          return null
        }),
      ])
    },
    NEVER_PARKED,
    { concurrency: 1, tools: { quick: () => noteAnd(begun, 'quick', null) } },
  )
  const pid = await start(reeve)
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'quick' } })
  expect(await reeve.wait({ pid: record.pid, timeoutMs: 0 })).toMatchObject({ type: 'timed_out' })
  expect(begun).toEqual([])
  release.resolve()
  expect(await outcomeOf(reeve, record.pid)).toMatchObject({ status: 'completed' })
  await reeve.send({ pid, name: 'go' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed' })
})
