import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRetryable } from '../../src/core/model/next-step.ts'
import { guardedFetch } from '../../src/model/ai-sdk/guarded-fetch.ts'
import { StreamStop } from '../../src/model/ai-sdk/stream-stop.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { chatDelta } from './chat-events.ts'
import { beginMessage } from './messages-events.ts'
import { ask, openModel, watch } from './open-model.ts'
import { providerServer } from './provider-server.ts'
import { beginEvents } from './send-events.ts'

/** One call of a compatible server that answers like that. */
async function callOf(answer: (response: ServerResponse) => void) {
  const { url } = await providerServer(answer)
  const model = await openModel('openai-compatible', url)
  return model.call(ask('hi'))
}

const json =
  (status: number, error: object, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error }))
  }

describe('an error of the provider', () => {
  test.each([
    [401, 'key_rejected', false],
    [402, 'quota_exhausted', false],
    [403, 'not_allowed', false],
    [404, 'model_unknown', false],
    [408, 'timeout', true],
    [409, 'invalid_request', false],
    [425, 'overloaded', true],
    [429, 'rate_limited', true],
    [500, 'server_error', true],
    [502, 'server_error', true],
    [503, 'overloaded', true],
    [504, 'timeout', true],
    [529, 'overloaded', true],
  ] as const)('with status %d is %s', async (status, kind, retried) => {
    const answer = await callOf(json(status, { message: 'nope' }))
    expect(answer).toMatchObject({ type: 'failed', failure: { kind, status, message: 'local/m: nope' } })
    expect(answer.type === 'failed' && isRetryable(answer.failure)).toBe(retried)
  })

  test('has a remedy, and an unknown model the names of others', async () => {
    const answer = await callOf(json(404, { message: 'no such model', code: 'model_not_found' }))
    expect(answer.type === 'failed' && answer.failure.remedy).toMatch(/^Check the name of the model/)
  })

  test.each([
    ['retry-after', '7', 7_000],
    ['retry-after-ms', '1500', 1_500],
    ['retry-after', 'Fri, 01 Jan 2100 00:00:00 GMT', 24 * 60 * 60 * 1_000],
  ])('says when to come back: %s: %s', async (name, value, retryAfterMs) => {
    const answer = await callOf(json(429, { message: 'slow down' }, { [name]: value }))
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'rate_limited', retryAfterMs } })
  })

  test('a 429 for want of credit is not a rate limit', async () => {
    const answer = await callOf(
      json(429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }),
    )
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'quota_exhausted' } })
  })

  test.each([
    [400, { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' }],
    [400, { message: 'the request exceeds the available context size, try increasing it' }],
    [
      400,
      { message: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).' },
    ],
    [413, { message: 'Request too large' }],
  ])('about the context window is an overflow: %d %o', async (status, error) => {
    expect((await callOf(json(status, error))).type).toBe('overflow')
  })

  test('a redirect is not followed: it would carry the key away', async () => {
    const { url, requests } = await providerServer((response, { path }) => {
      response.writeHead(307, { location: `/elsewhere${path}` })
      response.end()
    })
    const model = await openModel('openai-compatible', url)
    expect(await model.call(ask('hi'))).toMatchObject({
      type: 'failed',
      failure: { kind: 'redirected', status: 307 },
    })
    expect(requests).toHaveLength(1)
  })

  test('a long error page is cut, and its message bounded', async () => {
    const answer = await callOf(json(500, { message: 'x'.repeat(1_000_000) }))
    expect(answer.type === 'failed' && answer.failure.message.length).toBeLessThan(1_100)
  })

  test('no server is a network error', async () => {
    const model = await openModel('openai-compatible', 'http://127.0.0.1:1')
    expect(await model.call(ask('hi'))).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })
})

describe('garbage', () => {
  test.each([
    ['a web page', '<html><body>Welcome</body></html>'],
    ['nothing', ''],
    ['events that are not JSON', 'data: {"choices":\n\ndata: oops\n\n'],
    ['events of another protocol', 'data: {"jsonrpc":"2.0","result":[]}\n\n'],
  ])('%s with status 200 is an invalid answer', async (_, body) => {
    const answer = await callOf((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(body)
    })
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'invalid_answer' } })
  })

  test('after the first text it cuts the answer', async () => {
    const answer = await callOf((response) => {
      const send = beginEvents(response)
      send(chatDelta({ content: 'so far' }))
      send('oops')
      response.end()
    })
    expect(answer).toMatchObject({ type: 'cut', parts: [{ type: 'text', text: 'so far' }] })
  })

  test('an error inside of the stream has the kind that it names', async () => {
    const answer = await callOf((response) => {
      const send = beginEvents(response)
      send({ error: { message: 'Rate limit reached', type: 'rate_limit_error', code: 429 } })
      response.end()
    })
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'rate_limited' } })
  })
})

describe('a broken stream', () => {
  test('keeps text, and leaves out half calls', async () => {
    const answer = await callOf((response) => {
      const send = beginEvents(response)
      send(chatDelta({ content: 'I add.' }))
      const delta = { index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":' } }
      response.write(`data: ${JSON.stringify(chatDelta({ tool_calls: [delta] }))}\n\n`, () =>
        response.destroy(),
      )
    })
    expect(answer).toMatchObject({
      type: 'cut',
      parts: [{ type: 'text', text: 'I add.' }],
      usage: { isEstimate: true },
      failure: { kind: 'network' },
    })
  })

  test.each(['{"a":', ''])('that ends without a word leaves out the half call %j', async (text) => {
    const answer = await callOf((response) => {
      const send = beginEvents(response)
      send(chatDelta({ content: 'I add.' }))
      send(
        chatDelta({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: text } }],
        }),
      )
      response.end()
    })
    expect(answer).toMatchObject({ type: 'cut', parts: [{ type: 'text', text: 'I add.' }] })
    expect(answer.type === 'cut' && answer.parts).toHaveLength(1)
  })

  test('before any output is a failure', async () => {
    const answer = await callOf((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      response.write(': keep-alive\n\n', () => response.destroy())
    })
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'network' } })
  })

  test('keeps whole calls and signed reasoning of Anthropic, and leaves out the rest', async () => {
    const { url } = await providerServer((response) => {
      const message = beginMessage(response)
      message.block({ type: 'thinking', text: 'hm', signature: 'sig' })
      message.block({ type: 'tool_use', id: 'c1', name: 'add', text: '{"a":1,"b":2}' })
      message.start({ type: 'tool_use', id: 'c2', name: 'add', input: {} })
      message.delta({ type: 'input_json_delta', partial_json: '{"a"' })
      response.write('\n', () => response.destroy())
    })
    const model = await openModel('anthropic', url)
    const answer = await model.call(ask('hi'))
    expect(answer).toMatchObject({
      type: 'cut',
      parts: [
        { type: 'reasoning', text: 'hm', providerData: { anthropic: { signature: 'sig' } } },
        { type: 'tool_call', callId: 'c1', input: { a: 1, b: 2 } },
      ],
    })
    expect(answer.type === 'cut' && answer.parts).toHaveLength(2)
    // The input was reported when the stream began; the output is an estimate.
    expect(answer.type === 'cut' && answer.usage).toMatchObject({
      inputTokens: 100,
      cachedInputTokens: 50,
      cacheWriteTokens: 10,
      isEstimate: true,
    })
  })

  test('after the announcement of a part, without its content, is a failure', async () => {
    const { url } = await providerServer((response) => {
      const message = beginMessage(response)
      message.start({ type: 'thinking', thinking: '', signature: '' })
      response.write('\n', () => response.destroy())
    })
    const model = await openModel('anthropic', url)
    const { fragments, onFragment } = watch()
    expect((await model.call(ask('hi'), { onFragment })).type).toBe('failed')
    expect(fragments).toEqual([])
  })

  test('with reasoning alone has nothing to continue from', async () => {
    const { url } = await providerServer((response) => {
      const message = beginMessage(response)
      message.block({ type: 'thinking', text: 'hm', signature: 'sig' })
      response.write('\n', () => response.destroy())
    })
    const model = await openModel('anthropic', url)
    expect(await model.call(ask('hi'))).toMatchObject({ type: 'cut', parts: [] })
  })
})

describe('too much', () => {
  test('an answer of 20 MB is refused, and the connection closed', async () => {
    const closed = Promise.withResolvers<void>()
    const answer = await callOf((response) => {
      const send = beginEvents(response)
      response.on('close', closed.resolve)
      const piece = 'x'.repeat(100_000)
      for (let index = 0; index < 200; index++) send(chatDelta({ content: piece }))
    })
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'answer_too_large' } })
    await closed.promise
  })

  test('one line of 20 MB is refused before it is parsed', async () => {
    const answer = await callOf((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: ')
      const piece = 'x'.repeat(1_000_000)
      for (let index = 0; index < 20; index++) response.write(piece)
    })
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'answer_too_large' } })
  })

  test('a thousand calls are refused', async () => {
    const answer = await callOf((response) => {
      const send = beginEvents(response)
      for (let index = 0; index < 1_000; index++)
        send(
          chatDelta({
            tool_calls: [
              { index, id: `c${index}`, type: 'function', function: { name: 'add', arguments: '{}' } },
            ],
          }),
        )
      send(chatDelta({}, 'tool_calls'))
      response.end()
    })
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'answer_too_large' } })
  })
})

describe('time', () => {
  test('a stream that brings nothing is given up after the idle timeout', async () => {
    const clock = simulatedClock()
    const arrived = Promise.withResolvers<void>()
    const { url } = await providerServer((response) =>
      beginEvents(response)(chatDelta({ content: 'so far' })),
    )
    const model = await openModel('openai-compatible', url, { clock, options: { idleTimeoutMs: 60_000 } })
    const answer = model.call(ask('hi'), { onFragment: ({ type }) => type === 'text' && arrived.resolve() })
    await arrived.promise
    clock.advance(60_001)
    expect(await answer).toMatchObject({
      type: 'cut',
      parts: [{ text: 'so far' }],
      failure: { kind: 'timeout', message: 'local/m sent nothing for 60000 ms.' },
    })
  })

  test('comments and pings keep a stream alive while the model thinks', async () => {
    const clock = simulatedClock()
    const { url } = await providerServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': keep-alive\n\n')
    })
    const stop = new StreamStop(clock, 60_000, undefined)
    onTestFinished(() => stop.dispose())
    clock.advance(40_000)
    const { body } = await guardedFetch(url, { signal: stop.signal })
    const reader = body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(': keep-alive\n\n')
    clock.advance(40_000)
    expect(stop.reason).toBeUndefined()
    clock.advance(20_000)
    expect(stop.reason).toBe('idle')
    await expect(reader?.read()).rejects.toThrow('The call was stopped: idle.')
  })

  test('a server that never answers is given up, too', async () => {
    const clock = simulatedClock()
    const asked = Promise.withResolvers<void>()
    const { url } = await providerServer(() => asked.resolve())
    const model = await openModel('openai-compatible', url, { clock })
    const answer = model.call(ask('hi'))
    await asked.promise
    clock.advance(300_001)
    expect(await answer).toMatchObject({ type: 'failed', failure: { kind: 'timeout' } })
  })
})

describe('an abort', () => {
  test('ends the request, and returns what was complete', async () => {
    const closed = Promise.withResolvers<void>()
    const { url } = await providerServer((response) => {
      response.on('close', closed.resolve)
      beginEvents(response)(chatDelta({ content: 'so far' }))
    })
    const model = await openModel('openai-compatible', url)
    const abort = new AbortController()
    const answer = await model.call(ask('hi'), {
      abortSignal: abort.signal,
      onFragment: ({ type }) => type === 'text' && abort.abort(),
    })
    expect(answer).toMatchObject({
      type: 'aborted',
      parts: [{ type: 'text', text: 'so far' }],
      usage: { isEstimate: true },
    })
    await closed.promise
  })

  test('before output costs nothing', async () => {
    const abort = new AbortController()
    const { url } = await providerServer(() => abort.abort())
    const model = await openModel('openai-compatible', url)
    expect(await model.call(ask('hi'), { abortSignal: abort.signal })).toEqual({ type: 'aborted', parts: [] })
    expect(await model.call(ask('hi'), { abortSignal: abort.signal })).toEqual({ type: 'aborted', parts: [] })
  })
})

test('a refusal of the filter is no answer', async () => {
  const answer = await callOf((response) => {
    const send = beginEvents(response)
    send(chatDelta({ content: 'I' }))
    send(chatDelta({}, 'content_filter'))
    response.end()
  })
  expect(answer).toMatchObject({
    type: 'refused',
    parts: [{ text: 'I' }],
    message: 'local/m refused to answer.',
  })
})

test('a listener that throws ends the call, and not the program', async () => {
  const { url } = await providerServer((response) =>
    beginEvents(response)(chatDelta({ content: 'ok' }, 'stop')),
  )
  const model = await openModel('openai-compatible', url)
  const answer = await model.call(ask('hi'), {
    onFragment: () => {
      throw new Error('listener')
    },
  })
  expect(answer).toMatchObject({ failure: { kind: 'internal', message: 'local/m: listener' } })
})
