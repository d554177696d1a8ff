import { embed, type RefusedError, StepError } from 'reeve'
import { expect, onTestFinished } from 'vitest'
import {
  gate,
  logOf,
  noteAnd,
  onEachStore,
  outcomeOf,
  serve,
  start,
  storeAt,
  stuck,
} from './workflow-fixture.ts'

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
