import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventTypes, payloads, scriptedAgents } from './scripted-agent.ts'

const text = (said: string) => ({ parts: [{ text: said }] })

test('failed calls are repeated, each with an event, and the answer arrives', async () => {
  const { reeve, start } = await scriptedAgents()
  const fail = { fail: { status: 503, retryAfterMs: 1 } }
  const pid = await start([{ tries: [fail, fail, text('here')] }], { goal: 'go', once: true })
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { result: 'here' } } })
  expect(await payloads(reeve, pid, 'model_call_retried')).toHaveLength(2)
})

test('a broken stream is continued where it broke', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(
    { replies: [], answers: [{ cut: [{ text: 'The answer ' }, { text: 'is lo' }] }, text('42.')] },
    { goal: 'go', once: true },
  )
  expect(await reeve.wait({ pid })).toMatchObject({
    record: { outcome: { status: 'completed', result: '42.' } },
  })
  expect(await payloads(reeve, pid, 'assistant_item')).toMatchObject([
    { parts: [{ text: 'The answer ' }] },
    { parts: [{ text: 'is lo' }] },
    { parts: [{ text: '42.' }] },
  ])
})

test('the next model of the list answers if the first one fails', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  writeFileSync(join(workspace, 'other.json'), JSON.stringify({ answers: [text('from the other')] }))
  const pid = await start([{ fail: { status: 401 } }], {
    goal: 'go',
    once: true,
    fallbacks: ['scripted/other.json'],
  })
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { result: 'from the other' } } })
  expect(await payloads(reeve, pid, 'model_used')).toMatchObject([{ model: 'scripted/other.json' }])
})

test('a provider that rejects the key ends the turn and not the agent', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start([{ fail: { status: 401 } }], { goal: 'go' })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'provider_error' } })
  expect(await reeve.waitAgent({ pid })).toMatchObject({ type: 'idle' })
})

test('a script that is gone ends the turn with a message that helps', async () => {
  const { reeve, start, workspace } = await scriptedAgents()
  const pid = await start([text('never')])
  rmSync(join(workspace, 'script-1.json'))
  await reeve.runAgent({ pid, text: 'go' })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'setup_failed', message: expect.stringMatching('script-1.json cannot be read') },
  })
})

test('a model without a price is refused under a budget of cost', async () => {
  const { reeve, workspace } = await scriptedAgents({
    modelOptions: { providers: { local: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:1' } } },
  })
  const spec = { agent: 'helper', model: 'local/unknown', goal: 'go' }
  const spawned = reeve.spawn({ kind: 'agent', cwd: workspace, spec, allowance: { cost: 1 } })
  await expect(spawned).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching('price'),
    details: { problem: 'model_unpriced' },
  })
})

test('an answer that the provider refuses ends the turn with refused', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start([{ refuse: 'I must not.' }], { goal: 'go' })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'refused', message: 'I must not.' },
  })
})

test('tool calls that cannot be executed are answered with an error, and end the turn after three answers', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start({ answers: [{ parts: [{ tool: 'absent' }] }], atEnd: 'repeat' }, { goal: 'go' })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'invalid_tool_calls' } })
  expect(await payloads(reeve, pid, 'tool_answered')).toHaveLength(3)
})

test('a session that is too long is summarised once, and the turn goes on', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(
    {
      replies: [{ when: { input: 'Summarise this session' }, answer: text('They greeted each other.') }],
      answers: [text('hello'), { tries: [{ overflow: 'too long' }, text('still here')] }, text('still here')],
      atEnd: 'repeat',
    },
    { goal: 'hi' },
  )
  await reeve.waitAgent({ pid, turn: 1 })
  await reeve.runAgent({ pid, text: 'more' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
    turn: { reason: 'finished', result: 'still here' },
  })
  expect(await payloads(reeve, pid, 'segment_begun')).toMatchObject([
    { why: 'context' },
    { why: 'compaction' },
  ])
})

test('a session that stays too long ends the turn with limit:context, and an alert', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(
    {
      replies: [{ when: { input: 'Summarise this session' }, answer: text('Short.') }],
      answers: [{ overflow: 'too long' }],
      atEnd: 'repeat',
    },
    { goal: 'hi' },
  )
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'limit:context' } })
  expect(await payloads(reeve, pid, 'agent_alerted')).toMatchObject([{ alert: 'compaction_without_effect' }])
})

test('an idle agent is summarised on request', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(
    {
      replies: [{ when: { input: 'Summarise this session' }, answer: text('A greeting.') }],
      answers: [text('hello')],
      atEnd: 'repeat',
    },
    { goal: 'hi' },
  )
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await reeve.compactAgent({ pid })).toMatchObject({ type: 'compacting', turn: 2 })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  await reeve.runAgent({ pid, text: 'and now?' })
  expect(await reeve.waitAgent({ pid, turn: 3 })).toMatchObject({
    turn: { reason: 'finished', result: 'hello' },
  })
})

test('a use beyond the allowance ends the turn, and after a top-up the agent goes on', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const answers = [{ parts: [{ text: 'x' }], usage: { inputTokens: 900, outputTokens: 10 } }]
  writeFileSync(join(workspace, 's.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  const spec = { agent: 'helper', model: 'scripted/s.json', goal: 'go' }
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec,
    allowance: { tokensIn: 1_000 },
  })
  const { pid } = record
  await reeve.waitAgent({ pid, turn: 1 })
  await reeve.runAgent({ pid, text: 'more' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'limit:tokensIn' } })
  await reeve.allowAgent({ pid, amounts: { tokensIn: 10_000 } })
  await reeve.runAgent({ pid, text: 'more' })
  expect(await reeve.waitAgent({ pid, turn: 3 })).toMatchObject({ turn: { reason: 'finished' } })
  expect(await eventTypes(reeve, pid)).not.toContain('ended')
})

test('a model that asks for more calls than are executed gets an error result for each of the others', async () => {
  const { reeve, start } = await scriptedAgents()
  const calls = Array.from({ length: 130 }, () => ({ tool: 'list_files', input: {} }))
  const pid = await start([{ parts: calls }, text('I saw them.')], { goal: 'go', once: true })
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { result: 'I saw them.' } } })
  const answered = await payloads(reeve, pid, 'tool_answered')
  expect(answered.map(({ callId }) => callId)).toHaveLength(130)
  const refused = answered.filter(({ isError }) => isError === true)
  expect(refused).toMatchObject([{ index: 128 }, { index: 129 }])
  const { processes } = await reeve.list({ filter: { parent: [pid], status: 'any' }, limit: 200 })
  expect(processes).toHaveLength(128)
})

test('a model that floods an answer with calls ends the turn with provider_error, and its use is charged', async () => {
  const { reeve, start } = await scriptedAgents()
  const calls = Array.from({ length: 513 }, () => ({ tool: 'list_files', input: {} }))
  const pid = await start(
    {
      replies: [{ when: { input: 'again' }, answer: text('here') }],
      answers: [{ parts: calls, usage: { inputTokens: 10, outputTokens: 5 } }],
    },
    { goal: 'go' },
  )
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'provider_error', message: expect.stringContaining('512 parts') },
  })
  expect(await payloads(reeve, pid, 'model_call_cut')).toMatchObject([{ why: 'failed' }])
  expect(await payloads(reeve, pid, 'model_used')).toMatchObject([{ outputTokens: 5 }])
  await reeve.runAgent({ pid, text: 'again' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { result: 'here' } })
})
