import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { PromptItem } from '../../src/core/model/prompt.ts'
import { ask, openModel } from './open-model.ts'
import { providerServer } from './provider-server.ts'
import { beginEvents } from './send-events.ts'

const MODEL = 'gpt-6-sol'

/** A reasoning item and a call, as OpenAI streams them. */
function sendResponse(response: ServerResponse, index: number): void {
  const send = beginEvents(response)
  const created = {
    id: `resp_${index}`,
    object: 'response',
    created_at: 1_700_000_000,
    model: MODEL,
    output: [],
  }
  const reasoning = { id: `rs_${index}`, type: 'reasoning', summary: [], encrypted_content: `secret${index}` }
  const call = {
    id: `fc_${index}`,
    type: 'function_call',
    call_id: `call_${index}`,
    name: 'add',
    arguments: '{"a":1,"b":2}',
  }
  send({ type: 'response.created', response: created })
  send({ type: 'response.output_item.added', output_index: 0, item: reasoning })
  send({ type: 'response.output_item.done', output_index: 0, item: reasoning })
  send({ type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } })
  send({
    type: 'response.function_call_arguments.delta',
    item_id: call.id,
    output_index: 1,
    delta: call.arguments,
  })
  send({ type: 'response.output_item.done', output_index: 1, item: { ...call, status: 'completed' } })
  send({
    type: 'response.completed',
    response: {
      ...created,
      usage: {
        input_tokens: 90,
        output_tokens: 12,
        input_tokens_details: { cached_tokens: 30 },
        output_tokens_details: { reasoning_tokens: 8 },
      },
    },
  })
  response.end()
}

test('nothing is stored at OpenAI; encrypted reasoning goes back, and each request begins with the one before', async () => {
  const { url, requests } = await providerServer((response, _, index) => sendResponse(response, index))
  const prompt: PromptItem[] = [...ask('1+2').prompt]
  for (let index = 0; index < 3; index++) {
    const model = await openModel('openai', url, { model: MODEL })
    const answer = await model.call(ask('', { prompt, cacheKey: 'p_agent' }))
    if (answer.type !== 'answered') throw new Error(JSON.stringify(answer))
    expect(answer.parts).toMatchObject([
      {
        type: 'reasoning',
        providerData: { openai: { itemId: `rs_${index}`, reasoningEncryptedContent: `secret${index}` } },
      },
      { type: 'tool_call', callId: `call_${index}`, tool: 'add', input: { a: 1, b: 2 } },
    ])
    expect(answer.usage).toMatchObject({
      inputTokens: 90,
      cachedInputTokens: 30,
      outputTokens: 12,
      reasoningTokens: 8,
    })
    prompt.push({ type: 'assistant', by: { provider: 'local', model: MODEL }, parts: answer.parts })
    prompt.push({
      type: 'tool_results',
      results: [
        { callId: `call_${index}`, tool: 'add', output: { type: 'text', text: '3' }, isError: false },
      ],
    })
  }
  const bodies = requests.map(({ body }) => JSON.parse(body))
  for (const [index, body] of bodies.entries()) {
    expect(body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'p_agent',
    })
    const before = bodies[index - 1]?.input ?? []
    expect(JSON.stringify(body.input.slice(0, before.length))).toBe(JSON.stringify(before))
  }
  expect(JSON.stringify(bodies[2].input)).toContain('"encrypted_content":"secret1"')
  expect(JSON.stringify(bodies[2].input)).not.toContain('item_reference')
})

test('an error for want of credit, before output, is not retried', async () => {
  const { url } = await providerServer((response) => {
    response.writeHead(429, { 'content-type': 'application/json' })
    response.end(
      '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}',
    )
  })
  const model = await openModel('openai', url, { model: MODEL })
  expect(await model.call(ask('hi'))).toMatchObject({ type: 'failed', failure: { kind: 'quota_exhausted' } })
})
