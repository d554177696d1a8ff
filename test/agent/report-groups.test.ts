import type { Embedded } from 'reeve'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'
import { answerOrCode } from './served-agents.ts'

async function parentOf(model: HeldModel, spec: JsonObject = {}) {
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  const given = { agent: 'lead', model: 'my/model', ...spec }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec: given })
  const { pid: parent } = record
  const own = reeve.as(`process:${parent}`)
  const fanOut = async (goals: readonly string[], key = 'all') => {
    const agents = goals.map((goal, index) => ({ goal, idempotencyKey: `${key}:${index}` }))
    const answer = await own.spawnAgents({ parent, agents })
    return answer.agents.map(({ record: child }) => child.pid)
  }
  return { reeve, parent, own, fanOut, workspace }
}

/** The calls of the next agents, by their goals. */
async function nextCalls(model: HeldModel, goals: readonly string[]) {
  const calls = new Map<string, Awaited<ReturnType<HeldModel['next']>>>()
  for (const _ of goals) {
    const call = await model.next()
    calls.set(goals.find((goal) => call.prompt.includes(goal)) ?? '', call)
  }
  return (goal: string) => {
    const call = calls.get(goal)
    if (call === undefined) throw new Error(`No call has the goal ${goal}`)
    return call
  }
}

/** What a turn of this agent was told, in the order in which its model reads it. */
async function toldIn(reeve: Embedded, pid: string): Promise<readonly (readonly JsonObject[])[]> {
  const { items } = await reeve.agentLog({ pid, last: 100 })
  return items.flatMap((item) => (item.type === 'notices_promoted' ? [item.payload.parts] : []))
}

test('a fan-out of 20 agents gives one report, in the order of the request', async () => {
  const model = new HeldModel()
  const { reeve, parent, fanOut } = await parentOf(model)
  const goals = Array.from({ length: 20 }, (_, index) => `goal-${String.fromCharCode(97 + index)}`)
  const pids = await fanOut(goals)
  expect(await fanOut(goals)).toEqual(pids)
  const callOf = await nextCalls(model, goals)
  for (const [index, goal] of goals.toReversed().entries()) {
    expect((await reeve.show({ pid: parent })).agent?.turns, `after ${index} reports`).toBe(0)
    callOf(goal).answer(`result of ${goal}`)
    await reeve.waitAgent({ pid: pids[19 - index] ?? '', turn: 1 })
  }
  const told = await model.next()
  const places = goals.map((goal) => told.prompt.indexOf(`result of ${goal}`))
  expect(places.every((place) => place > 0)).toBe(true)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  const [group, ...more] = await toldIn(reeve, parent)
  expect(more).toEqual([])
  expect(group?.[0]).toMatchObject({ type: 'group_report', pids })
  expect(group?.slice(1)).toMatchObject(pids.map((pid) => ({ report: { pid, state: 'finished' } })))
  expect((await reeve.show({ pid: parent })).agent?.groups).toBeUndefined()
})

test('a member that ends without a result fills its seat, and later turns of a member are reported alone', async () => {
  const model = new HeldModel()
  const { reeve, parent, own, fanOut } = await parentOf(model)
  const goals = ['goal-a', 'goal-b', 'goal-c']
  const [a = '', b = '', c = ''] = await fanOut(goals)
  const callOf = await nextCalls(model, goals)
  callOf('goal-a').answer('first of a')
  await reeve.waitAgent({ pid: a, turn: 1 })
  // The group still waits: this turn of a member is no part of it.
  await own.runAgent({ pid: a, text: 'again' })
  ;(await model.next()).answer('second of a')
  await reeve.waitAgent({ pid: a, turn: 2 })
  const alone = await model.next()
  expect(alone.prompt).toContain('second of a')
  expect(alone.prompt).not.toContain('first of a')
  alone.answer('read')
  await reeve.waitAgent({ pid: parent, turn: 1 })
  await reeve.kill({ pid: b })
  callOf('goal-c').answer('result of c')
  await reeve.waitAgent({ pid: c, turn: 1 })
  const told = await model.next()
  expect(told.prompt).toContain('Report of a group')
  const [, group] = await toldIn(reeve, parent)
  expect(group?.slice(1)).toMatchObject([
    { report: { pid: a, turn: 1, state: 'finished' } },
    { report: { pid: b, turn: 1, state: 'cancelled', isEnd: true } },
    { report: { pid: c, turn: 1, state: 'finished' } },
  ])
})

test('the members of a group share what their parent has left, and all are refused if one is', async () => {
  const model = new HeldModel()
  const { reeve, workspace } = await parentOf(model)
  const spec = { agent: 'lead', model: 'my/model', delegation: { children: 3 } }
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec,
    allowance: { tokensIn: 100_000, tokensOut: 10_000 },
  })
  const { pid: parent } = record
  const spawn = (goals: readonly string[]) =>
    reeve.as(`process:${parent}`).spawnAgents({ parent, agents: goals.map((goal) => ({ goal })) })
  expect(await answerOrCode(spawn(['1', '2', '3', '4']))).toBe('limit_exceeded')
  expect((await reeve.agents({ parent })).agents).toEqual([])
  const { agents } = await spawn(['1', '2', '3'])
  expect(agents.map((one) => one.record.limits.allowance)).toMatchObject(
    agents.map(() => ({ tokensIn: 25_000, tokensOut: 2_500 })),
  )
})

test('an agent starts several with one call, and reads one report of all', async () => {
  const model = new HeldModel()
  const { reeve, parent } = await parentOf(model)
  await reeve.runAgent({ pid: parent, text: 'go' })
  ;(await model.next()).call('agent_spawn', { goals: ['goal-a', 'goal-b'] })
  const goals = ['are at work', 'goal-a', 'goal-b']
  const callOf = await nextCalls(model, goals)
  callOf('are at work').answer('I wait')
  await reeve.waitAgent({ pid: parent, turn: 1 })
  callOf('goal-b').answer('result of b')
  callOf('goal-a').answer('result of a')
  const told = await model.next()
  expect(told.prompt.indexOf('result of a')).toBeLessThan(told.prompt.indexOf('result of b'))
  expect(told.prompt).toContain('result of a')
  const { agents } = await reeve.agents({ parent })
  expect(agents).toHaveLength(2)
  told.answer('done')
  await reeve.waitAgent({ pid: parent, turn: 2 })
  expect(await payloads(reeve, parent, 'notices_promoted')).toHaveLength(1)
})
