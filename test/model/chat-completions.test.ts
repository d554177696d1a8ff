import { describe, expect, test } from 'vitest'
import type { PromptItem } from '../../src/core/model/prompt.ts'
import { chatDelta, sendChat } from './chat-events.ts'
import { ask, openModel, watch } from './open-model.ts'
import { providerServer } from './provider-server.ts'
import { beginEvents } from './send-events.ts'

const USAGE = {
  inputTokens: 100,
  cachedInputTokens: 60,
  cacheWriteTokens: 0,
  outputTokens: 20,
  reasoningTokens: 5,
  isEstimate: false,
}

describe('an answer of a compatible server', () => {
  test('is text, thinking and calls, in the order in which they began', async () => {
    const { url, requests } = await providerServer((response) =>
      sendChat(response, {
        thinking: ['two ', 'numbers'],
        text: ['I a', 'dd.'],
        calls: [
          { id: 'c1', name: 'add', text: '{"a":1,"b":2}' },
          { id: 'c2', name: 'add', text: '{"a":3,"b":4}' },
        ],
      }),
    )
    const model = await openModel('openai-compatible', url)
    const { fragments, onFragment } = watch()
    expect(await model.call(ask('1+2 and 3+4'), { onFragment })).toEqual({
      type: 'answered',
      parts: [
        { type: 'reasoning', text: 'two numbers' },
        { type: 'text', text: 'I add.' },
        { type: 'tool_call', callId: 'c1', tool: 'add', input: { a: 1, b: 2 } },
        { type: 'tool_call', callId: 'c2', tool: 'add', input: { a: 3, b: 4 } },
      ],
      finish: 'tool_calls',
      rawFinish: 'tool_calls',
      usage: USAGE,
      warnings: [],
    })
    expect(fragments).toEqual([
      { type: 'begun' },
      { type: 'thinking', part: 0, text: 'two ' },
      { type: 'thinking', part: 0, text: 'numbers' },
      { type: 'text', part: 1, text: 'I a' },
      { type: 'text', part: 1, text: 'dd.' },
      { type: 'tool_arguments', part: 2, callId: 'c1', tool: 'add', text: '' },
      { type: 'tool_arguments', part: 2, callId: 'c1', tool: 'add', text: '{"a":1' },
      { type: 'tool_arguments', part: 2, callId: 'c1', tool: 'add', text: ',"b":2}' },
      { type: 'tool_arguments', part: 3, callId: 'c2', tool: 'add', text: '' },
      { type: 'tool_arguments', part: 3, callId: 'c2', tool: 'add', text: '{"a":3' },
      { type: 'tool_arguments', part: 3, callId: 'c2', tool: 'add', text: ',"b":4}' },
    ])
    expect(requests[0]?.headers['authorization']).toBe('Bearer sk-local-test-key')
  })

  test('one request is one call: nothing is repeated, and no tool is executed', async () => {
    const { url, requests } = await providerServer((response) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"broken"}}')
    })
    const model = await openModel('openai-compatible', url)
    expect(await model.call(ask('hi'))).toMatchObject({
      type: 'failed',
      failure: { kind: 'server_error', status: 500 },
    })
    expect(requests).toHaveLength(1)
  })

  test('settings are sent, and left out if there are none', async () => {
    const { url, requests } = await providerServer((response) => sendChat(response, { text: ['ok'] }))
    const model = await openModel('openai-compatible', url)
    await model.call(ask('hi', { settings: { maxOutputTokens: 50, effort: 'high', temperature: 0.2 } }))
    await model.call(ask('hi', { tools: [] }))
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
      max_tokens: 50,
      reasoning_effort: 'high',
      temperature: 0.2,
    })
    expect(Object.keys(JSON.parse(requests[1]?.body ?? ''))).toEqual([
      'model',
      'messages',
      'stream',
      'stream_options',
    ])
  })

  test('usage that the server does not report is estimated, and marked', async () => {
    const { url } = await providerServer((response) => {
      const send = beginEvents(response)
      send(chatDelta({ content: 'abcdef' }, 'stop'))
      send('[DONE]')
      response.end()
    })
    const model = await openModel('openai-compatible', url)
    expect(await model.call(ask('hi'))).toMatchObject({
      type: 'answered',
      usage: { outputTokens: 2, isEstimate: true },
    })
  })
})

describe('tool calls that cannot be executed', () => {
  test('have a problem, and the session can go on with an error result', async () => {
    const { url, requests } = await providerServer((response, _, index) =>
      sendChat(
        response,
        index > 0
          ? { text: ['sorry'] }
          : {
              calls: [
                { id: 'c1', name: 'add', text: '{"a":1,' },
                { id: 'c2', name: 'ad', text: '{}' },
                { id: 'c3', name: 'add', text: '[1,2]' },
                { id: 'c4', name: 'add', text: '{"a":"\\ud800"}' },
                { id: 'c5', name: 'add', text: '' },
              ],
            },
      ),
    )
    const model = await openModel('openai-compatible', url)
    const answer = await model.call(ask('add'))
    if (answer.type !== 'answered') throw new Error(answer.type)
    expect(answer.parts).toMatchObject([
      { callId: 'c1', input: {}, problem: { type: 'malformed', text: '{"a":1,' } },
      {
        callId: 'c2',
        problem: { type: 'unknown_tool', message: 'There is no tool ad in this prompt. Did you mean add?' },
      },
      {
        callId: 'c3',
        problem: {
          type: 'malformed',
          message: 'The arguments of add cannot be used: they are not a JSON object.',
        },
      },
      { callId: 'c4', problem: { type: 'malformed' } },
      { callId: 'c5', input: {} },
    ])
    expect(answer.parts[4]).not.toHaveProperty('problem')
    const prompt: PromptItem[] = [
      ...ask('add').prompt,
      { type: 'assistant', by: model, parts: answer.parts },
      {
        type: 'tool_results',
        results: ['c1', 'c2', 'c3', 'c4', 'c5'].map((callId) => ({
          callId,
          tool: 'add',
          output: { type: 'text', text: 'no' },
          isError: true,
        })),
      },
    ]
    expect(await model.call(ask('', { prompt }))).toMatchObject({
      type: 'answered',
      parts: [{ text: 'sorry' }],
    })
    const { messages } = JSON.parse(requests[1]?.body ?? '')
    expect(messages[2].tool_calls[0]).toEqual({
      id: 'c1',
      type: 'function',
      function: { name: 'add', arguments: '{}' },
    })
  })

  test('ids that were used before, in the answer or in the session, are replaced', async () => {
    const { url } = await providerServer((response) =>
      sendChat(response, { calls: [{ id: 'call_0', name: 'add', text: '{"a":1,"b":2}' }] }),
    )
    const model = await openModel('openai-compatible', url)
    const parts = [{ type: 'tool_call', callId: 'call_0', tool: 'add', input: {} }] as const
    const prompt: PromptItem[] = [
      ...ask('add').prompt,
      { type: 'assistant', parts },
      {
        type: 'tool_results',
        results: [{ callId: 'call_0', tool: 'add', output: { type: 'text', text: '3' }, isError: false }],
      },
    ]
    expect(await model.call(ask('', { prompt }))).toMatchObject({
      type: 'answered',
      parts: [{ callId: 'call_0-2' }],
    })
  })
})

describe('a request', () => {
  test('with an unanswered call is not sent', async () => {
    const { url, requests } = await providerServer((response) => sendChat(response, { text: ['ok'] }))
    const model = await openModel('openai-compatible', url)
    const prompt: PromptItem[] = [
      ...ask('add').prompt,
      { type: 'assistant', parts: [{ type: 'tool_call', callId: 'c1', tool: 'add', input: {} }] },
      { type: 'note', text: 'go on' },
    ]
    expect(await model.call(ask('', { prompt }))).toMatchObject({
      type: 'failed',
      failure: {
        kind: 'invalid_request',
        message: 'The prompt is not in order. Item 2: the call c1 has no result.',
      },
    })
    expect(requests).toEqual([])
  })

  test('has notes, files and pictures of tools in the forms that chat completions take', async () => {
    const { url, requests } = await providerServer((response) => sendChat(response, { text: ['ok'] }))
    const model = await openModel('openai-compatible', url)
    const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
    const prompt: PromptItem[] = [
      {
        type: 'user',
        parts: [
          { type: 'text', text: 'see' },
          image,
          {
            type: 'file',
            mediaType: 'text/markdown',
            name: 'a.md',
            data: Buffer.from('# A').toString('base64'),
          },
        ],
      },
      { type: 'assistant', parts: [{ type: 'tool_call', callId: 'c1', tool: 'add', input: { a: 1 } }] },
      {
        type: 'tool_results',
        results: [
          {
            callId: 'c1',
            tool: 'add',
            output: { type: 'content', parts: [{ type: 'text', text: 'seen' }, image] },
            isError: false,
          },
        ],
      },
      { type: 'note', text: 'The date is now 2026-11-17.' },
    ]
    expect((await model.call(ask('', { prompt }))).type).toBe('answered')
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    expect(JSON.parse(requests[0]?.body ?? '').messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          picture,
          { type: 'text', text: '<file name="a.md">\n# A\n</file>' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'seen\n[image/png, sent separately]' },
      { role: 'user', content: [picture] },
      { role: 'user', content: '<system-note>\nThe date is now 2026-11-17.\n</system-note>' },
    ])
  })
})
