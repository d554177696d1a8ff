import { expect, test } from 'vitest'
import type { PromptItem } from '../../src/core/model/prompt.ts'
import { beginMessage, sendMessage } from './messages-events.ts'
import { ask, openModel } from './open-model.ts'
import { providerServer } from './provider-server.ts'
import { beginEvents } from './send-events.ts'

const bodyOf = (text: string | undefined) => JSON.parse(text ?? '')

test('an answer has reasoning with its signature, and usage with the cache', async () => {
  const { url, requests } = await providerServer((response) =>
    sendMessage(response, [
      { type: 'thinking', text: 'numbers', signature: 'c2lnbmVk' },
      { type: 'text', text: 'I add.' },
      { type: 'tool_use', id: 'toolu_1', name: 'add', text: '{"a":1,"b":2}' },
    ]),
  )
  const model = await openModel('anthropic', url)
  expect(await model.call(ask('1+2'))).toEqual({
    type: 'answered',
    parts: [
      { type: 'reasoning', text: 'numbers', providerData: { anthropic: { signature: 'c2lnbmVk' } } },
      { type: 'text', text: 'I add.' },
      { type: 'tool_call', callId: 'toolu_1', tool: 'add', input: { a: 1, b: 2 } },
    ],
    finish: 'tool_calls',
    rawFinish: 'tool_use',
    usage: {
      inputTokens: 100,
      cachedInputTokens: 50,
      cacheWriteTokens: 10,
      outputTokens: 30,
      reasoningTokens: 0,
      isEstimate: false,
    },
    warnings: expect.any(Array),
  })
  expect(requests[0]?.path).toBe('/v1/messages')
  expect(requests[0]?.headers['x-api-key']).toBe('sk-local-test-key')
})

test('reasoning goes back whole to the model that made it, and to no other', async () => {
  const { url, requests } = await providerServer((response) =>
    sendMessage(response, [{ type: 'text', text: 'ok' }]),
  )
  const parts = [
    { type: 'reasoning', text: 'hm', providerData: { anthropic: { signature: 'sig' } } },
    { type: 'text', text: 'first' },
  ] as const
  const prompt = (provider: string, model: string): PromptItem[] => [
    ...ask('hi').prompt,
    { type: 'assistant', by: { provider, model }, parts },
    { type: 'note', text: 'go on' },
  ]
  const model = await openModel('anthropic', url, { model: 'claude-x' })
  await model.call(ask('', { prompt: prompt('local', 'claude-x') }))
  await model.call(ask('', { prompt: prompt('local', 'claude-y') }))
  await model.call(ask('', { prompt: prompt('openai', 'claude-x') }))
  const contents = requests.map(({ body }) => bodyOf(body).messages[1].content)
  const text = { type: 'text', text: 'first' }
  expect(contents).toEqual([[{ type: 'thinking', thinking: 'hm', signature: 'sig' }, text], [text], [text]])
})

test('ids of other servers are written with the characters that Anthropic takes, in calls and results alike', async () => {
  const { url, requests } = await providerServer((response) =>
    sendMessage(response, [{ type: 'text', text: 'ok' }]),
  )
  const callId = 'functions.add:0'
  const model = await openModel('anthropic', url)
  const prompt: PromptItem[] = [
    ...ask('hi').prompt,
    { type: 'assistant', parts: [{ type: 'tool_call', callId, tool: 'add', input: { a: 1 } }] },
    {
      type: 'tool_results',
      results: [{ callId, tool: 'add', output: { type: 'json', value: { sum: 1 } }, isError: false }],
    },
  ]
  await model.call(ask('', { prompt }))
  const { messages } = bodyOf(requests[0]?.body)
  expect(messages[1].content[0].id).toBe('functions_add_0')
  expect(messages[2].content[0].tool_use_id).toBe('functions_add_0')
})

test('an answer that the filter ended is a refusal', async () => {
  const { url } = await providerServer((response) =>
    sendMessage(response, [{ type: 'text', text: 'I' }], 'refusal'),
  )
  const model = await openModel('anthropic', url)
  expect(await model.call(ask('hi'))).toMatchObject({ type: 'refused', parts: [{ text: 'I' }] })
})

test('an answer that filled the context window is an overflow', async () => {
  const { url } = await providerServer((response) =>
    sendMessage(response, [{ type: 'text', text: 'I' }], 'model_context_window_exceeded'),
  )
  const model = await openModel('anthropic', url)
  expect(await model.call(ask('hi'))).toMatchObject({ type: 'overflow', usage: { inputTokens: 100 } })
})

test('an overloaded error inside of the stream fails before output, and cuts after it', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const { url } = await providerServer((response, _, index) => {
    if (index === 0) beginEvents(response)(error, 'error')
    else {
      const message = beginMessage(response)
      message.block({ type: 'text', text: 'so far' })
      message.event(error)
    }
    response.end()
  })
  const model = await openModel('anthropic', url)
  expect(await model.call(ask('hi'))).toMatchObject({ type: 'failed', failure: { kind: 'overloaded' } })
  expect(await model.call(ask('hi'))).toMatchObject({
    type: 'cut',
    parts: [{ text: 'so far' }],
    failure: { kind: 'overloaded' },
  })
})

test('a prompt that is too long is an overflow', async () => {
  const { url } = await providerServer((response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
    )
  })
  const model = await openModel('anthropic', url)
  expect((await model.call(ask('hi'))).type).toBe('overflow')
})
