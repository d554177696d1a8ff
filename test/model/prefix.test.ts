import { describe, expect, test } from 'vitest'
import type { ModelRequest, PromptItem } from '../../src/core/model/prompt.ts'
import type { Model } from '../../src/model/model.ts'
import { sendMessage } from './messages-events.ts'
import { ask, openModel } from './open-model.ts'
import { providerServer } from './provider-server.ts'
import { strictProvider } from './strict-provider.ts'

/** Plays a session as an agent does: each answer and each result is appended. The prompt is stored and read between calls. */
async function session(
  open: () => Promise<Model>,
  calls: number,
  notes: readonly number[] = [],
): Promise<PromptItem[]> {
  let prompt: PromptItem[] = [...ask('begin').prompt]
  for (let index = 0; index < calls; index++) {
    // A new model object for each call, as after a restart.
    const model = await open()
    const answer = await model.call(ask('', { prompt }))
    if (answer.type !== 'answered') throw new Error(JSON.stringify(answer))
    prompt.push({
      type: 'assistant',
      by: { provider: model.provider, model: model.model },
      parts: answer.parts,
    })
    const results = answer.parts.flatMap((part) =>
      part.type === 'tool_call'
        ? [
            {
              callId: part.callId,
              tool: part.tool,
              output: { type: 'json', value: { sum: index } },
              isError: false,
            } as const,
          ]
        : [],
    )
    if (results.length > 0) prompt.push({ type: 'tool_results', results })
    if (results.length === 0 || notes.includes(index)) prompt.push({ type: 'note', text: `note ${index}` })
    prompt = JSON.parse(JSON.stringify(prompt))
  }
  return prompt
}

describe('chat completions', () => {
  test('ten calls of a session each begin with the bytes of the one before', async () => {
    const provider = await strictProvider((_, index) => ({
      text: index % 3 === 0 ? `step ${index} ` : '',
      // Two calls at once, and a server that gives the same ids in each answer.
      calls:
        index % 2 === 0
          ? [0, 1].map((number) => ({ id: `call_${number}`, name: 'add', text: `{"a":${index},"b":1.0}` }))
          : [],
      ...(index % 2 === 1 && { text: ' spaces at both ends ' }),
    }))
    await session(() => openModel('openai-compatible', provider.url), 10, [4])
    expect(provider.complaints).toEqual([])
    expect(provider.requests).toHaveLength(10)
  })

  test('the strict provider finds a changed prefix, an unanswered call and an id that is used twice', async () => {
    const provider = await strictProvider(() => ({ text: 'ok' }))
    const model = await openModel('openai-compatible', provider.url)
    await model.call(ask('one'))
    expect(await model.call(ask('two'))).toMatchObject({
      type: 'failed',
      failure: { kind: 'invalid_request' },
    })
    await model.call(ask('one', { tools: [] }))
    provider.expectNewPrefix('m')
    await model.call(ask('two'))
    expect(provider.complaints).toEqual([
      'Message 1 changed.',
      'The tools or settings after the messages changed.',
    ])
    const post = (messages: readonly object[]) =>
      fetch(`${provider.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'raw', messages }),
      }).then(({ status }) => status)
    const call = { role: 'assistant', tool_calls: [{ id: 'a' }] }
    const result = { role: 'tool', tool_call_id: 'a' }
    expect(await post([call, { role: 'user' }])).toBe(400)
    expect(await post([call, result, call, result])).toBe(400)
    expect(await post([result])).toBe(400)
    expect(provider.complaints.slice(2)).toEqual([
      'Message 1: the calls a have no result.',
      'Message 2: the id a was used before.',
      'Message 0: a result of a, which waits for none.',
    ])
  })
})

describe('Anthropic', () => {
  const answer = (index: number) =>
    [
      { type: 'thinking', text: `think ${index}`, signature: `sig${index}` },
      { type: 'text', text: ` text ${index}\n` },
      ...(index % 2 === 0
        ? [{ type: 'tool_use' as const, id: `toolu_${index}`, name: 'add', text: `{"a": ${index}, "b": 2}` }]
        : []),
    ] as const

  const recorded = async () => {
    const server = await providerServer((response, _, index) => sendMessage(response, answer(index)))
    await session(() => openModel('anthropic', server.url), 8, [2])
    return server.requests.map(({ body }) => JSON.parse(body))
  }

  test('each request begins with the one before; only the marks of the cache move', async () => {
    const bodies = await recorded()
    expect(bodies).toHaveLength(8)
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1]
      if (before === undefined) continue
      const { messages: earlier, ...settingsBefore } = withoutMarks(before)
      const { messages: now, ...settings } = withoutMarks(body)
      expect(JSON.stringify(settings)).toBe(JSON.stringify(settingsBefore))
      expect(JSON.stringify(now.slice(0, earlier.length))).toBe(JSON.stringify(earlier))
    }
  })

  test('instructions, the end of the prompt and the end of the request before are marked', async () => {
    const bodies = await recorded()
    for (const body of bodies) {
      expect(body.system[0].cache_control).toEqual({ type: 'ephemeral' })
      const marked = body.messages.flatMap(({ content }: { content: readonly object[] }, index: number) =>
        content.some((block) => 'cache_control' in block) ? [index] : [],
      )
      const last = body.messages.length - 1
      expect(marked).toEqual(last === 0 ? [0] : [last - 2, last])
    }
  })

  test('breakpoints of the request are used instead, the last three of them', async () => {
    const server = await providerServer((response) => sendMessage(response, [{ type: 'text', text: 'ok' }]))
    const said: PromptItem = { type: 'assistant', parts: [{ type: 'text', text: 'yes' }] }
    const asked: PromptItem = { type: 'user', parts: [{ type: 'text', text: 'and?' }] }
    const request: ModelRequest = ask('', {
      prompt: [asked, said, asked, said, asked, said, asked],
      cacheAfter: [0, 2, 4, 6],
    })
    await (await openModel('anthropic', server.url)).call(request)
    const { messages } = JSON.parse(server.requests[0]?.body ?? '')
    const marks = messages.map(({ content }: { content: readonly object[] }) =>
      content.some((block) => 'cache_control' in block),
    )
    expect(marks).toEqual([false, false, true, false, true, false, true])
  })
})

function withoutMarks(value: unknown) {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === 'cache_control' ? undefined : member)))
}
