import { type ChaosConfig, LLMock } from '@copilotkit/aimock'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { PromptItem } from '../../src/core/model/prompt.ts'
import { ask, openModel } from './open-model.ts'

/** A mock of providers that was written elsewhere: another opinion about what they send. */
async function startMock(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' })
  await mock.start()
  onTestFinished(() => mock.stop())
  return mock
}

const TYPES = ['openai-compatible', 'anthropic', 'openai'] as const
const model = 'gpt-5'

describe.each(TYPES)('%s', (type) => {
  test('text, a call, and an answer to its result', async () => {
    const mock = await startMock()
    mock.onMessage('add', { toolCalls: [{ name: 'add', arguments: '{"a":1,"b":2}' }] })
    mock.onMessage('hello', { content: 'Hi there, this is a longer text.' })
    const opened = await openModel(type, mock.url, { model })
    const greeted = await opened.call(ask('hello'))
    if (greeted.type !== 'answered') throw new Error(JSON.stringify(greeted))
    expect(greeted.parts.at(-1)).toMatchObject({ type: 'text', text: 'Hi there, this is a longer text.' })
    const called = await opened.call(ask('add'))
    if (called.type !== 'answered') throw new Error(JSON.stringify(called))
    const call = called.parts.at(-1)
    if (call?.type !== 'tool_call') throw new Error(JSON.stringify(called.parts))
    expect(call).toMatchObject({ tool: 'add', input: { a: 1, b: 2 } })
    mock.prependFixture({ match: { toolCallId: call.callId }, response: { content: 'three' } })
    const prompt: PromptItem[] = [
      ...ask('add').prompt,
      { type: 'assistant', by: opened, parts: called.parts },
      {
        type: 'tool_results',
        results: [{ callId: call.callId, tool: 'add', output: { type: 'text', text: '3' }, isError: false }],
      },
    ]
    const answered = await opened.call(ask('', { prompt }))
    expect(answered.type === 'answered' && answered.parts.at(-1)).toMatchObject({ text: 'three' })
  })

  test.each<[string, ChaosConfig, object]>([
    ['500', { dropRate: 1 }, { type: 'failed', failure: { kind: 'server_error', status: 500 } }],
    [
      '429',
      { rateLimitRate: 1 },
      { type: 'failed', failure: { kind: 'rate_limited', status: 429, retryAfterMs: expect.any(Number) } },
    ],
    ['malformed JSON', { malformedRate: 1 }, { type: 'failed', failure: { kind: 'invalid_answer' } }],
    ['a disconnect', { disconnectRate: 1 }, { type: 'failed', failure: { kind: 'network' } }],
    ['a delay', { latencyMs: 50 }, { type: 'answered' }],
  ])('chaos: %s', async (_, chaos, expected) => {
    const mock = await startMock()
    mock.onMessage('hello', { content: 'Hi there!' })
    mock.setChaos(chaos)
    const opened = await openModel(type, mock.url, { model })
    expect(await opened.call(ask('hello'))).toMatchObject(expected)
  })

  test('a stream that is cut after some chunks keeps the text so far', async () => {
    const mock = await startMock()
    const text = 'A text that is long enough for several chunks of four characters each.'
    mock.onMessage('hello', { content: text }, { chunkSize: 4, truncateAfterChunks: 12, latency: 5 })
    const opened = await openModel(type, mock.url, { model })
    const answer = await opened.call(ask('hello'))
    if (answer.type !== 'cut') throw new Error(JSON.stringify(answer))
    const part = answer.parts.find((one) => one.type === 'text')
    expect(part?.type === 'text' && text.startsWith(part.text) && part.text.length > 4).toBe(true)
  })

  test('a call that is cut is left out', async () => {
    const mock = await startMock()
    const call = { name: 'add', arguments: JSON.stringify({ a: 1, b: 2, note: 'x'.repeat(100) }) }
    mock.onMessage('add', { toolCalls: [call] }, { chunkSize: 4, truncateAfterChunks: 10, latency: 5 })
    const opened = await openModel(type, mock.url, { model })
    expect(await opened.call(ask('add'))).toMatchObject({ type: 'cut', parts: [] })
  })
})
