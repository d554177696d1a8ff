import { expect, test } from 'vitest'
import { eventTypes, payloads, scriptedAgents } from './scripted-agent.ts'

const answers = [{ parts: [{ text: '{"n": 1}' }], usage: { inputTokens: 10, outputTokens: 67 } }]

async function agentWith(allowance: object) {
  const agents = await scriptedAgents()
  const { reeve } = agents
  const pid = await agents.start({ answers, atEnd: 'repeat' }, { goal: 'go' }, { allowance })
  const turn = async (number: number) => {
    const waited = await reeve.waitAgent({ pid, turn: number })
    if (waited.type !== 'turn_ended') throw new Error(waited.type)
    return waited.turn
  }
  const calls = async () =>
    (await eventTypes(reeve, pid)).filter((type) => type === 'model_call_begun').length
  return { reeve, pid, turn, calls }
}

test('after an overrun no model is called: inputs and notices end with the limit, and a top-up goes on with them', async () => {
  const { reeve, pid, turn, calls } = await agentWith({ tokensOut: 50 })
  expect(await turn(1)).toMatchObject({ reason: 'limit:tokensOut' })
  await reeve.runAgent({ pid, text: '<second>' })
  expect(await turn(2)).toMatchObject({
    reason: 'limit:tokensOut',
    message: expect.stringContaining('tokensOut'),
  })
  await reeve.notifyAgent({ pid, cause: 'notify', text: '<notice>' })
  expect(await turn(3)).toMatchObject({ reason: 'limit:tokensOut' })
  await reeve.compactAgent({ pid })
  expect(await turn(4)).toMatchObject({ reason: 'limit:tokensOut' })
  expect(await calls()).toBe(1)
  expect(await reeve.budget({ pid })).toMatchObject({ used: { tokensOut: 67 } })
  expect(await reeve.allowAgent({ pid, amounts: { tokensOut: 500 } })).toMatchObject({ turn: 5 })
  expect(await turn(5)).toMatchObject({ reason: 'finished' })
  expect(await payloads(reeve, pid, 'turn_begun')).toMatchObject([
    {},
    {},
    {},
    {},
    { cause: 'user', goesOnWith: 2 },
  ])
  expect(await payloads(reeve, pid, 'input_promoted')).toHaveLength(2)
  expect((await reeve.show({ pid })).agent).not.toHaveProperty('unanswered')
})

test('an allowance that is used up exactly ends the turn before its next call', async () => {
  const { pid, reeve, turn, calls } = await agentWith({ modelCalls: 1 })
  expect(await turn(1)).toMatchObject({ reason: 'finished' })
  await reeve.runAgent({ pid, text: 'more' })
  expect(await turn(2)).toMatchObject({ reason: 'limit:modelCalls' })
  expect(await calls()).toBe(1)
})

test('an input that waits for a larger allowance keeps its schema and its goal', async () => {
  const { reeve, pid, turn } = await agentWith({ modelCalls: 1 })
  await turn(1)
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const until = { type: 'model', check: 'it is done' } as const
  await reeve.runAgent({ pid, text: 'count', schema, until, maxTurns: 1 })
  expect(await turn(2)).toMatchObject({ reason: 'limit:modelCalls' })
  await reeve.allowAgent({ pid, amounts: { modelCalls: 10 } })
  expect(await turn(3)).toMatchObject({ reason: 'finished', result: { n: 1 }, goal: 'budget_over' })
})

test('a turn that another input replaces is not gone on with', async () => {
  const { reeve, pid, turn } = await agentWith({ modelCalls: 1 })
  await turn(1)
  await reeve.runAgent({ pid, text: 'a' })
  await turn(2)
  await reeve.allowAgent({ pid, amounts: { modelCalls: 1 } })
  expect(await turn(3)).toMatchObject({ reason: 'finished' })
  await reeve.runAgent({ pid, text: 'b' })
  expect(await turn(4)).toMatchObject({ reason: 'limit:modelCalls' })
  expect(await reeve.allowAgent({ pid, amounts: { modelCalls: 1 } })).toMatchObject({ turn: 5 })
  await turn(5)
  expect(await reeve.allowAgent({ pid, amounts: { modelCalls: 1 } })).toMatchObject({ turn: null })
})
