import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventTypes, scriptedAgents } from './scripted-agent.ts'

const text = (said: string) => ({ parts: [{ text: said }] })

test.each([
  ['nowhere/model', 'model_unknown', 'There is no provider nowhere'],
  ['mine/model', 'model_key_missing', 'key'],
  ['scripted/absent.json', 'script_invalid', 'absent.json cannot be read'],
])('a model that cannot be opened (%s) is refused when it is configured', async (model, problem, message) => {
  const { reeve, start } = await scriptedAgents({
    modelOptions: { providers: { mine: { type: 'anthropic', key: { secret: 'NO_SUCH_KEY' } } } },
  })
  const pid = await start([text('one'), text('two')], { goal: 'go' })
  await reeve.waitAgent({ pid, turn: 1 })
  await expect(reeve.configureAgent({ pid, model })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message),
    details: { problem },
  })
  expect(await eventTypes(reeve, pid)).not.toContain('agent_configured')
  await reeve.runAgent({ pid, text: 'more' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { result: 'two' } })
})

test('a model without a price is refused for an agent with a budget of cost', async () => {
  const { reeve, workspace } = await scriptedAgents({
    modelOptions: { providers: { local: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:1' } } },
  })
  const spec = { agent: 'helper', model: 'scripted/demo' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec, allowance: { cost: 1 } })
  await expect(reeve.configureAgent({ pid: record.pid, model: 'local/unknown' })).rejects.toMatchObject({
    code: 'invalid_request',
    details: { problem: 'model_unpriced' },
  })
})

test('a model that can be opened counts from the next call on, and a repeated request gets the same answer', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  const other = join(workspace, 'other.json')
  writeFileSync(other, JSON.stringify({ answers: [text('from the other')], atEnd: 'repeat' }))
  const pid = await start([text('one')], { goal: 'go' })
  await reeve.waitAgent({ pid, turn: 1 })
  const request = { pid, id: 'c', model: 'scripted/other.json' }
  expect(await reeve.configureAgent(request)).toEqual({ type: 'configured', model: 'scripted/other.json' })
  await reeve.runAgent({ pid, text: 'more' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { result: 'from the other' } })
  rmSync(other)
  expect(await reeve.configureAgent(request)).toEqual({ type: 'configured', model: 'scripted/other.json' })
})
