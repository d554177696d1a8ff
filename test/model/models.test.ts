import { describe, expect, test } from 'vitest'
import { Models } from '../../src/model/models.ts'
import { modelOptions } from '../../src/model/options.ts'
import type { KeySource } from '../../src/model/providers.ts'
import { systemClock } from '../../src/store/system-clock.ts'
import { sendChat } from './chat-events.ts'
import { sendMessage } from './messages-events.ts'
import { ask } from './open-model.ts'
import { providerServer } from './provider-server.ts'

const models = (options: object = {}, keys: Partial<KeySource> = {}) =>
  new Models(modelOptions.parse(options), {
    clock: systemClock,
    keys: () => ({ secrets: {}, env: {}, ...keys }),
  })

describe('an id', () => {
  test('without a provider is refused, with the names that were probably meant', async () => {
    expect(await models().open('claude-opus-5-5', '/')).toEqual({
      type: 'refused',
      code: 'model_unknown',
      message: 'claude-opus-5-5 is not the id of a model.',
      remedy: expect.stringContaining('anthropic/claude-opus-5-5'),
    })
  })

  test('of an unknown provider is refused, with the nearest one', async () => {
    const options = {
      providers: { ollama: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:11434/v1' } },
    }
    expect(await models(options).open('olama/qwen', '/')).toEqual({
      type: 'refused',
      code: 'model_unknown',
      message: 'There is no provider olama.',
      remedy:
        'Did you mean ollama? Providers: ollama, anthropic, openai, google, scripted, record. Add others under providers in the configuration.',
    })
  })

  test('of a known provider may be one that the catalogue does not have', async () => {
    const opened = await models({}, { env: { ANTHROPIC_API_KEY: 'sk-ant-x' } }).open(
      'anthropic/claude-next',
      '/',
    )
    expect(opened).toMatchObject({ type: 'opened', model: { provider: 'anthropic', model: 'claude-next' } })
  })
})

describe('a key', () => {
  test.each([
    ['anthropic/claude-opus-5-5', 'The provider anthropic needs a key, and ANTHROPIC_API_KEY is not set.'],
    ['openai/gpt-6-sol', 'The provider openai needs a key, and OPENAI_API_KEY is not set.'],
    ['google/gemini', 'The provider google needs a key, and GEMINI_API_KEY (or GOOGLE_API_KEY) is not set.'],
  ])('of %s that is missing is refused, with the remedy', async (id, message) => {
    expect(await models().open(id, '/')).toEqual({
      type: 'refused',
      code: 'model_key_missing',
      message,
      remedy: expect.stringMatching(/^Run reeve secret set \w+, or start the daemon with the variable/),
    })
  })

  test('that the configuration names is used, and no other', async () => {
    const { url, requests } = await providerServer((response) =>
      sendMessage(response, [{ type: 'text', text: 'ok' }]),
    )
    const options = { providers: { anthropic: { type: 'anthropic', baseURL: url, key: { secret: 'WORK' } } } }
    const env = { ANTHROPIC_API_KEY: 'private' }
    expect(await models(options, { env }).open('anthropic/m', '/')).toMatchObject({
      code: 'model_key_missing',
    })
    const opened = await models(options, { env, secrets: { WORK: 'work-key' } }).open('anthropic/m', '/')
    if (opened.type === 'refused') throw new Error(opened.message)
    expect((await opened.model.call(ask('hi'))).type).toBe('answered')
    expect(requests[0]?.headers['x-api-key']).toBe('work-key')
    expect(requests[0]?.path).toBe('/v1/messages')
  })

  test('env: means a variable alone', async () => {
    const options = { providers: { anthropic: { type: 'anthropic', key: { secret: 'env:WORK' } } } }
    expect(await models(options, { secrets: { WORK: 'x' } }).open('anthropic/m', '/')).toMatchObject({
      code: 'model_key_missing',
      remedy: 'Start the daemon with the variable WORK.',
    })
  })

  test('is not needed by a server that the configuration gives none; variables of the program are not used either', async () => {
    const { url, requests } = await providerServer((response) => sendChat(response, { text: ['ok'] }))
    const options = {
      providers: { local: { type: 'openai-compatible', baseURL: url, headers: { 'x-team': 'a' } } },
    }
    const opened = await models(options).open('local/org/model:7b', '/')
    if (opened.type === 'refused') throw new Error(opened.message)
    expect((await opened.model.call(ask('hi'))).type).toBe('answered')
    expect(requests[0]?.headers['authorization']).toBeUndefined()
    expect(requests[0]?.headers['x-team']).toBe('a')
    expect(JSON.parse(requests[0]?.body ?? '').model).toBe('org/model:7b')
  })

  test('is in no message, even if the provider repeats it', async () => {
    const { url } = await providerServer((response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"Incorrect API key provided: sk-local-test-key."}}')
    })
    const options = {
      providers: { local: { type: 'openai-compatible', baseURL: url, key: { secret: 'K' } } },
    }
    const opened = await models(options, { secrets: { K: 'sk-local-test-key' } }).open('local/m', '/')
    if (opened.type === 'refused') throw new Error(opened.message)
    const answer = await opened.model.call(ask('hi'))
    expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'key_rejected' } })
    expect(JSON.stringify(answer)).not.toContain('sk-local-test-key')
  })
})

test('a model of the catalogue gets its limit of output, and the effort in the words of its provider', async () => {
  const { url, requests } = await providerServer((response) =>
    sendMessage(response, [{ type: 'text', text: 'ok' }]),
  )
  const options = {
    providers: { anthropic: { type: 'anthropic', baseURL: url } },
    models: { 'anthropic/claude-next': { maxOutputTokens: 9_000 } },
  }
  const all = models(options, { env: { ANTHROPIC_API_KEY: 'x' } })
  for (const id of ['anthropic/claude-opus-5-5', 'anthropic/claude-next']) {
    const opened = await all.open(id, '/')
    if (opened.type === 'refused') throw new Error(opened.message)
    await opened.model.call(ask('hi', { settings: { effort: 'high' } }))
  }
  const bodies = requests.map(({ body }) => JSON.parse(body))
  expect(bodies[0]).toMatchObject({ max_tokens: 128_000, output_config: { effort: 'high' } })
  expect(bodies[1]).toMatchObject({ model: 'claude-next', max_tokens: 9_000 })
})

describe('two agents with one key', () => {
  test('share its places', async () => {
    const held = Promise.withResolvers<void>()
    const { url, requests } = await providerServer((response, _, index) => {
      const send = () => sendChat(response, { text: ['ok'] })
      if (index === 0) void held.promise.then(send)
      else send()
    })
    const all = models({
      providers: { local: { type: 'openai-compatible', baseURL: url, maxConcurrent: 1 } },
    })
    const open = async (id: string) => {
      const opened = await all.open(id, '/')
      if (opened.type === 'refused') throw new Error(opened.message)
      return opened.model
    }
    const [one, two] = [await open('local/a'), await open('local/b')]
    const first = one.call(ask('hi'))
    const waits: string[] = []
    const second = two.call(ask('hi'), {
      onWait: ({ type }) => {
        waits.push(type)
        held.resolve()
      },
    })
    expect((await first).type).toBe('answered')
    expect((await second).type).toBe('answered')
    expect(waits).toEqual(['concurrency'])
    expect(requests.map(({ body }) => JSON.parse(body).model)).toEqual(['a', 'b'])
  })
})

describe('the configuration', () => {
  test.each([
    [{ providers: { local: { type: 'openai-compatible' } } }],
    [{ providers: { local: { type: 'openai-compatible', baseURL: 'ftp://x' } } }],
    [{ providers: { 'Has Space': { type: 'openai' } } }],
    [{ providers: { x: { type: 'openai', key: 'sk-in-clear' } } }],
    [{ models: { 'local/m': { price: { input: 1, output: 2 } } } }],
  ])('%j is refused', (options) => {
    expect(modelOptions.safeParse(options).success).toBe(false)
  })

  test('sets facts and prices', () => {
    const price = { asOf: '2026-11-17', input: 0, output: 0 }
    expect(models({ models: { 'local/m': { contextWindow: 32_768, price } } }).overrides).toEqual({
      'local/m': { contextWindow: 32_768, price },
    })
  })
})

describe('a model object of a program', () => {
  const stream = (parts: readonly object[]) => ReadableStream.from(parts)
  const finish = {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
  }

  test('is called by the interface of the AI SDK; tools of the provider and unknown content are kept whole', async () => {
    const prompts: unknown[] = []
    const object = {
      specificationVersion: 'v4',
      provider: 'acme.chat-v2',
      modelId: 'big',
      supportedUrls: {},
      doStream: async ({ prompt }: { prompt: unknown }) => {
        prompts.push(prompt)
        return {
          stream: stream([
            { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'temperature' }] },
            {
              type: 'custom',
              kind: 'acme.summary',
              providerMetadata: { acme: { id: 's1', none: undefined } },
            },
            {
              type: 'tool-call',
              toolCallId: 'w1',
              toolName: 'web_search',
              input: '{"q":"x"}',
              providerExecuted: true,
            },
            {
              type: 'tool-result',
              toolCallId: 'w1',
              toolName: 'web_search',
              result: { hits: 2 },
              providerMetadata: { acme: { ref: 'r' } },
            },
            { type: 'part-of-the-future', value: 1 },
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'found \ud83d' },
            { type: 'text-delta', id: 't', delta: '\ude00' },
            { type: 'text-end', id: 't', providerMetadata: { acme: { citations: [1] } } },
            finish,
          ]),
        }
      },
    }
    const opened = await models().openObject(object)
    if (opened.type === 'refused') throw new Error(opened.message)
    const { model } = opened
    const texts: string[] = []
    const answer = await model.call(ask('hi'), {
      onFragment: (one) => one.type === 'text' && texts.push(one.text),
    })
    if (answer.type !== 'answered') throw new Error(JSON.stringify(answer))
    expect(texts).toEqual(['found ', '😀'])
    expect(answer.warnings).toEqual(['temperature is not supported.'])
    expect(answer.parts).toEqual([
      { type: 'opaque', kind: 'acme.summary', providerData: { acme: { id: 's1' } } },
      { type: 'tool_call', callId: 'w1', tool: 'web_search', input: { q: 'x' }, isProviderExecuted: true },
      {
        type: 'provider_result',
        callId: 'w1',
        tool: 'web_search',
        result: { hits: 2 },
        isError: false,
        providerData: { acme: { ref: 'r' } },
      },
      { type: 'text', text: 'found 😀', providerData: { acme: { citations: [1] } } },
    ])
    const by = { provider: model.provider, model: model.model }
    const note = { type: 'note', text: 'go on' } as const
    await model.call(
      ask('', { prompt: [...ask('hi').prompt, { type: 'assistant', by, parts: answer.parts }, note] }),
    )
    await model.call(
      ask('', { prompt: [...ask('hi').prompt, { type: 'assistant', parts: answer.parts }, note] }),
    )
    const [, own, foreign] = prompts as { content: { type: string }[] }[][]
    expect(own?.[2]?.content.map(({ type }) => type)).toEqual(['custom', 'tool-call', 'tool-result', 'text'])
    expect(foreign?.[2]?.content).toEqual([
      { type: 'text', text: '[web_search returned: {"hits":2}]' },
      { type: 'text', text: 'found 😀' },
    ])
  })

  test('that hangs and ignores its signal is left alone when the call is aborted', async () => {
    const object = {
      specificationVersion: 'v4',
      provider: 'acme',
      modelId: 'big',
      doStream: () => new Promise(() => {}),
    }
    const opened = await models().openObject(object)
    if (opened.type === 'refused') throw new Error(opened.message)
    const abort = new AbortController()
    const answer = opened.model.call(ask('hi'), { abortSignal: abort.signal })
    abort.abort()
    expect(await answer).toEqual({ type: 'aborted', parts: [] })
  })

  test.each([
    ['anthropic/claude'],
    [{ specificationVersion: 'v3', provider: 'p', modelId: 'm', doStream() {} }],
    [null],
  ])('%j is none', async (object) => {
    expect(await models().openObject(object)).toMatchObject({ type: 'refused', code: 'model_unfit' })
  })
})
