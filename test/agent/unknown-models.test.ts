import { expect, test } from 'vitest'
import { scriptedAgents } from './scripted-agent.ts'

test('an agent with a model that cannot be opened is refused, and nothing is registered', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const spawned = (model: string) =>
    reeve.spawn({ kind: 'agent', cwd: workspace, spec: { agent: 'helper', model, goal: 'go' } })
  await expect(spawned('antropic/claude')).rejects.toMatchObject({
    code: 'invalid_request',
    details: { problem: 'model_unknown' },
    remedy: expect.stringContaining('anthropic'),
  })
  await reeve.registerImage({ image: { name: 'wrong', models: ['nowhere/model'] } })
  const spec = { agent: 'helper', image: 'wrong' }
  await expect(reeve.spawn({ kind: 'agent', cwd: workspace, spec })).rejects.toMatchObject({
    code: 'invalid_request',
  })
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('a missing key or script does not refuse an agent: it may be there before its next turn', async () => {
  const { reeve, workspace } = await scriptedAgents({
    secrets: { read: () => ({}) },
    modelOptions: {
      providers: {
        local: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:9/v1', key: { secret: 'KEY' } },
      },
    },
  })
  for (const model of ['local/m', 'scripted/absent.json']) {
    const spec = { agent: 'helper', model, goal: 'go' }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
    expect(await reeve.waitAgent({ pid: record.pid, turn: 1 })).toMatchObject({
      turn: { reason: 'setup_failed' },
    })
  }
})
