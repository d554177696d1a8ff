import { decodeValue, embed, encodeValue, type Json, StepError, type Value } from 'reeve'
import { expect, onTestFinished } from 'vitest'
import { gate, logOf, onEachStore, outcomeOf, serve, start, storeAt, stuck } from './workflow-fixture.ts'

const RETRY = { retry: { times: 3, backoffMs: 0 } }

const failure = () =>
  Object.assign(new RangeError('too far', { cause: new TypeError('no number', { cause: 7n }) }), {
    code: 'E_FAR',
  })

const everything = () => ({
  at: new Date(0),
  by: new Map([['a', new Set([1n])]]),
  bytes: new Uint8Array([0, 255]),
  error: failure(),
  nothing: undefined,
  looksLike: { $reeve: 'Date', value: null },
})

onEachStore(
  'a step whose result cannot be stored runs once, also with a retry policy, and fails with a code',
  async (newStore) => {
    const effects: string[] = []
    const reeve = await serve(await newStore(), async (ctx, input) => {
      const pay = () => {
        effects.push(String(input))
        const cycle: { self?: unknown } = {}
        cycle.self = cycle
        return input === 'function' ? { undo: () => {} } : input === 'class' ? new URL('http://a') : cycle
      }
      return ctx.step('pay', pay, RETRY).catch((error: unknown) => [String(error), (error as StepError).code])
    })
    for (const [input, why] of Object.entries({
      function: 'the value at /undo is a function',
      class: 'the value is an instance of the class URL',
      cycle: 'the value at /self refers to an object that contains it',
    })) {
      const pid = await start(reeve, input)
      const said = `The result of step pay cannot be stored: ${why}.`
      expect(await outcomeOf(reeve, pid)).toMatchObject({
        status: 'completed',
        result: [`StepError: ${said}`, 'unstorable_value'],
      })
      expect(await logOf(reeve, pid, 'step_tried')).toEqual([])
      expect(await logOf(reeve, pid, 'step_ended')).toMatchObject([{ how: 'failed', error: said, tries: 1 }])
    }
    expect(effects).toEqual(['function', 'class', 'cycle'])
  },
)

onEachStore(
  'results of every stored type are the same in the attempt that ran them and in the next',
  async (newStore) => {
    const store = await newStore()
    const seen: unknown[] = []
    let effects = 0
    const reached = gate()
    const code = (then: () => Promise<unknown>) =>
      serve(store, async (ctx) => {
        const run = () => {
          effects += 1
          return everything()
        }
        seen.push(await ctx.step('all', run, RETRY))
        await ctx.step('then', then)
        return seen.at(-1)
      })
    const first = await code(() => stuck(reached))
    const pid = await start(first)
    await reached.promise
    await first.close()
    const second = await code(async () => {})
    const outcome = await outcomeOf(second, pid)
    expect(seen).toHaveLength(2)
    for (const one of [...seen, decodeValue(outcome?.result ?? null)]) expect(one).toStrictEqual(everything())
    expect(effects).toBe(1)
  },
)

onEachStore(
  'an error that a step throws keeps its name, code and cause in every attempt',
  async (newStore) => {
    const store = await newStore()
    const caught: unknown[] = []
    const reached = gate()
    const code = (then: () => Promise<unknown>) =>
      serve(store, async (ctx) => {
        await ctx
          .step('fail', () => Promise.reject(failure()))
          .catch((error: unknown) => void caught.push(error))
        await ctx.step('then', then)
      })
    const first = await code(() => stuck(reached))
    const pid = await start(first)
    await reached.promise
    await first.close()
    const second = await code(async () => {})
    expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed' })
    expect(caught).toHaveLength(2)
    for (const error of caught) {
      expect(error).toBeInstanceOf(StepError)
      expect(error).toMatchObject({ step: 'fail', message: 'too far', code: 'E_FAR' })
      expect((error as StepError).cause).toStrictEqual(failure())
    }
  },
)

onEachStore('inputs and results pass between functions and tools unchanged', async (newStore) => {
  const received: Value[] = []
  const reeve = await embed({
    store: await storeAt(await newStore()),
    tools: {
      echo: ({ input }) => {
        received.push(input)
        return input
      },
    },
    workflows: {
      parent: async (ctx, input: Value) => {
        received.push(input)
        const tool = await ctx.spawn({ kind: 'tool', spec: { tool: 'echo', input } })
        const child = await ctx.spawn({ kind: 'workflow', spec: { workflow: 'child', input: ctx.input } })
        return [(await ctx.wait(tool)).result, (await ctx.wait(child)).result]
      },
      child: async (_, input: Value) => input,
      wrong: async () => ({ undo: () => {} }),
      spawner: async (ctx) => {
        const input = { at: new URL('http://a') } as never
        return ctx.spawn({ kind: 'workflow', spec: { workflow: 'child', input } })
      },
    },
  })
  onTestFinished(() => reeve.close())
  const given = { ...everything(), [`$reeve`]: 'mine' }
  const ends = async (workflow: string, input: Json) => {
    const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow, input } })
    return outcomeOf(reeve, record.pid)
  }
  const outcome = await ends('parent', encodeValue(given))
  expect(outcome).toMatchObject({ status: 'completed' })
  expect(decodeValue(outcome?.result ?? null)).toStrictEqual([given, given])
  expect(received).toStrictEqual([given, given])
  expect(await ends('wrong', null)).toMatchObject({
    status: 'failed',
    reason: "The function's result cannot be stored: the value at /undo is a function.",
    result: { code: 'unstorable_value' },
  })
  expect(await ends('spawner', null)).toMatchObject({
    status: 'failed',
    reason: 'The input of this workflow cannot be stored: the value at /at is an instance of the class URL.',
  })
})
