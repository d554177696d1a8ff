import { createAnthropic } from '@ai-sdk/anthropic'
import { expect, test, vi } from 'vitest'
import { DEFAULT_MAX_CONCURRENT } from '../../src/model/providers.ts'
import { type HeldCall, HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const PRICE = { asOf: '2026-11-18', input: 100_000, output: 100_000 }

test.each(['my/model', 'held/held'])(
  'the price of a model object is found under %s by the budget, the charge and the view',
  async (name) => {
    const model = new HeldModel()
    const { reeve, workspace } = await scriptedAgents({
      models: { 'my/model': model },
      modelOptions: { models: { [name]: { contextWindow: 77_777, price: PRICE } } },
    })
    const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec, allowance: { cost: 100 } })
    const { pid } = record
    ;(await model.next()).answer('done')
    await reeve.waitAgent({ pid, turn: 1 })
    expect(await reeve.inspectAgent({ pid })).toMatchObject({ contextWindow: 77_777, cost: 1.5 })
    const { total } = await reeve.agentCost({ pid })
    expect(total.cost).toBe(1.5)
  },
)

test('without a price, a model object is refused under a budget of cost by the name that the agent uses', async () => {
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': new HeldModel() } })
  const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
  const spawned = reeve.spawn({ kind: 'agent', cwd: workspace, spec, allowance: { cost: 100 } })
  await expect(spawned).rejects.toMatchObject({
    message: expect.stringContaining('The price of my/model is not known'),
  })
})

test('a model object whose provider has no key ends the turn with the variable to set', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', undefined)
  const models = { 'my/model': createAnthropic()('claude-opus-5-5') }
  const { reeve, workspace } = await scriptedAgents({ models })
  const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const waited = await reeve.waitAgent({ pid: record.pid, turn: 1 })
  expect(waited).toMatchObject({
    type: 'turn_ended',
    turn: {
      reason: 'setup_failed',
      message: expect.stringContaining('Set ANTHROPIC_API_KEY in the environment of the program'),
    },
  })
  expect(JSON.stringify(waited)).not.toContain('defect')
})

test('a call that the limiter holds back is an alert in the session', async () => {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model }, concurrency: 100 })
  const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
  const start = async () => (await reeve.spawn({ kind: 'agent', cwd: workspace, spec })).record.pid
  const first = await Promise.all(Array.from({ length: DEFAULT_MAX_CONCURRENT }, start))
  const calls: HeldCall[] = []
  for (const _ of first) calls.push(await model.next())
  const late = await start()
  await expect
    .poll(() => payloads(reeve, late, 'agent_alerted'))
    .toMatchObject([{ alert: 'model_waits', message: expect.stringContaining('0 wait before this one') }])
  for (const call of calls) call.answer('done')
  ;(await model.next()).answer('done')
  await reeve.waitAgent({ pid: late, turn: 1 })
})
