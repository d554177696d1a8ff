import { expect, test } from 'vitest'
import { payloads, scriptedAgents } from '../agent/scripted-agent.ts'
import { codeOf } from './ruled-reeve.ts'

/** Rules about `execute model:<provider>/<model>`. */

const text = (said: string) => ({ parts: [{ text: said }] })
const HELLO = [text('hello')]
const inSession = (session: string) => ({ type: 'session', session }) as const
const agentOf = (workspace: string, model: string) =>
  ({ kind: 'agent', cwd: workspace, spec: { agent: 'helper', model, goal: 'go', once: true } }) as const

test('an agent with a denied model, or a denied fallback, is not registered', async () => {
  const { reeve, workspace } = await scriptedAgents()
  await reeve.openSession({ session: 's1' })
  await reeve.addRule({ rule: { effect: 'deny', resource: 'model:scripted/demo' } })
  const agent = reeve.as('session:s1')
  const request = agentOf(workspace, 'scripted/demo')
  expect(await codeOf(agent.spawn(request))).toBe('denied')
  const fallback = { ...request.spec, model: 'scripted/other.json', fallbacks: ['scripted/demo'] }
  expect(await codeOf(agent.spawn({ ...request, spec: fallback }))).toBe('denied')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('an ask of a model asks before the agent begins, and its calls are then made', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  await reeve.openSession({ session: 's1' })
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'ask', resource: 'model:scripted/demo' } })
  const { record } = await reeve.as('session:s1').spawn(agentOf(workspace, 'scripted/demo'))
  expect(record.status).toBe('waiting')
  await reeve.approve({ id: record.gate?.approval ?? '' })
  const ended = await reeve.wait({ pid: record.pid, timeoutMs: 60_000 })
  expect(ended.type === 'ended' && ended.record.outcome?.status).toBe('completed')
  expect(await start(HELLO)).toMatch(/^p_/)
})

test('a deny that is added later ends the next turn before a call, and the agent stays idle until it is removed', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start([text('one'), text('two')])
  const turn = async (number: number) => {
    await reeve.runAgent({ pid, text: 'go on' })
    return await reeve.waitAgent({ pid, turn: number, timeoutMs: 60_000 })
  }
  expect(await turn(1)).toMatchObject({ turn: { reason: 'finished', result: 'one' } })
  const { id } = await reeve.addRule({ rule: { effect: 'deny', resource: 'model:scripted/**' } })
  expect(await turn(2)).toMatchObject({ turn: { reason: 'setup_failed' } })
  const failed = (await payloads(reeve, pid, 'turn_ended')).at(-1)
  expect(failed?.['message']).toContain('may not call the model scripted/')
  expect(await payloads(reeve, pid, 'model_call_begun')).toHaveLength(1)
  await reeve.removeRule({ id })
  expect(await turn(3)).toMatchObject({ turn: { reason: 'finished', result: 'two' } })
})

test('a model that the rules of an agent deny is neither configured nor given to an agent below', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(HELLO)
  await reeve.addRule({ rule: { effect: 'deny', resource: 'model:scripted/demo' } })
  const before = (await reeve.list({ filter: { status: 'any' } })).processes.length
  expect(await codeOf(reeve.configureAgent({ pid, id: 'c1', model: 'scripted/demo' }))).toBe('denied')
  expect(await codeOf(reeve.spawnAgent({ parent: pid, goal: 'x', model: 'scripted/demo' }))).toBe('denied')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toHaveLength(before)
  expect(await payloads(reeve, pid, 'agent_configured')).toEqual([])
})

test('an allow of an agent leaves it its model, and an allow of one model no other', async () => {
  const { reeve, workspace } = await scriptedAgents()
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  for (const session of ['s1', 's2'])
    await reeve.addRule({ to: inSession(session), rule: { effect: 'allow', resource: 'agent:helper' } })
  await reeve.addRule({
    to: inSession('s2'),
    rule: { effect: 'allow', resource: 'model:other/**', rights: ['execute'] },
  })
  const [one, two] = ['s1', 's2'].map((session) =>
    codeOf(reeve.as(`session:${session}`).spawn(agentOf(workspace, 'scripted/demo'))),
  )
  expect(await one).toMatch(/^accepted/)
  expect(await two).toBe('denied')
})
