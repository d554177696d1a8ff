import type { ServerResponse } from 'node:http'
import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { chatDelta } from '../model/chat-events.ts'
import { beginEvents } from '../model/send-events.ts'
import { type StrictAnswer, type StrictProvider, strictProvider } from '../model/strict-provider.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

type Trouble = (response: ServerResponse) => void

const note = defineTool({
  name: 'note',
  description: 'Keeps a note.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => `noted ${text}`,
})

/**
 * An agent of a provider that answers as the test says as long as the last input is `first`, and properly after that. The provider refuses
 * prompts that are not in order: a second turn shows that the session is valid, and that nothing is lost.
 */
async function agentOf(answer: (answers: number) => StrictAnswer | Trouble, secrets: Record<string, string>) {
  const provider: StrictProvider = await strictProvider((messages) => {
    const isSecond = messages.some((message) => JSON.stringify(message).includes('<second>'))
    if (isSecond) return { text: 'fine' }
    return answer(messages.filter(({ role }) => role === 'assistant').length)
  })
  const { reeve, workspace } = await scriptedAgents({
    tools: [note],
    secrets: { read: () => secrets },
    modelOptions: {
      providers: {
        strict: { type: 'openai-compatible', baseURL: `${provider.url}/v1`, key: { secret: 'KEY' } },
      },
    },
  })
  const spec = { agent: 'helper', model: 'strict/m', goal: '<first>' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  const firstTurn = async () => {
    const waited = await reeve.waitAgent({ pid, turn: 1 })
    if (waited.type !== 'turn_ended') throw new Error(waited.type)
    return waited.turn
  }
  /** The agent is idle, takes the next input, and its model reads both inputs. */
  const goesOn = async () => {
    expect(await reeve.waitAgent({ pid })).toMatchObject({ type: 'idle' })
    await reeve.runAgent({ pid, text: '<second>' })
    expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
      turn: { reason: 'finished', result: 'fine' },
    })
    const body = provider.requests.at(-1)?.body ?? ''
    for (const text of ['<first>', '<second>']) expect(body.split(text)).toHaveLength(2)
    expect(provider.complaints).toEqual([])
  }
  return { reeve, pid, provider, firstTurn, goesOn }
}

const failing =
  (status: number, headers: Record<string, string> = {}): Trouble =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message: 'no', type: 'error' } }))
  }

test('no key: the turn ends with setup_failed and what to do, and with a key the agent goes on', async () => {
  const secrets: Record<string, string> = {}
  const { provider, firstTurn, goesOn } = await agentOf(() => ({ text: 'never' }), secrets)
  expect(await firstTurn()).toMatchObject({ reason: 'setup_failed', message: expect.stringContaining('KEY') })
  expect(provider.requests).toEqual([])
  secrets['KEY'] = 'sk-test-key-1'
  await goesOn()
})

test.each([
  ['a wrong key', failing(401), 1, 'Set a valid key'],
  ['an unknown model', failing(404), 1, 'Check the name of the model'],
  ['a web page in the place of an API', garbage, 4, 'Check that the baseURL'],
  ['an answer of 20 MB', flood, 1, 'no model answers so much'],
  ['429 for an hour', failing(429, { 'retry-after': '3600' }), 1, 'Wait, lower maxConcurrent'],
] as const)('%s: the turn ends with provider_error and what to do', async (what, trouble, calls, remedy) => {
  const { reeve, pid, provider, firstTurn, goesOn } = await agentOf(() => trouble, { KEY: 'sk-test-key-1' })
  expect(await firstTurn()).toMatchObject({
    reason: 'provider_error',
    message: expect.stringContaining(remedy),
  })
  expect(provider.requests).toHaveLength(calls)
  expect(await payloads(reeve, pid, 'model_call_retried')).toHaveLength(calls - 1)
  expect(await payloads(reeve, pid, 'model_call_cut')).toMatchObject([{ turn: 1, call: 1, why: 'failed' }])
  if (what !== '429 for an hour') return goesOn()
  // The pause that the provider asked for holds for every agent: the next turn says so without a request.
  await reeve.runAgent({ pid, text: 'now?' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
    turn: { reason: 'provider_error', message: expect.stringContaining('asked for a pause') },
  })
  expect(provider.requests).toHaveLength(calls)
})

test('streams that break again and again: the turn ends with provider_error, and the session stays valid', async () => {
  const { reeve, pid, provider, firstTurn, goesOn } = await agentOf(() => cutting, { KEY: 'sk-test-key-1' })
  expect(await firstTurn()).toMatchObject({ reason: 'provider_error' })
  expect(provider.requests).toHaveLength(4)
  expect(await payloads(reeve, pid, 'assistant_item')).toHaveLength(3)
  await goesOn()
})

test('malformed arguments and unknown tools: each call gets an error result, and the model goes on', async () => {
  const calls = [
    { id: 'a', name: 'note', text: '{"text": ' },
    { id: 'b', name: 'note', text: '[1]' },
    { id: 'c', name: 'nothing', text: '{}' },
    { id: 'd', name: 'note', text: '{"text":"good"}' },
  ]
  const { reeve, pid, firstTurn, goesOn } = await agentOf(
    (answers) => (answers === 0 ? { calls } : { text: 'done' }),
    { KEY: 'sk-test-key-1' },
  )
  expect(await firstTurn()).toMatchObject({ reason: 'finished', result: 'done' })
  const answered = await payloads(reeve, pid, 'tool_answered')
  const byIndex = answered.toSorted((a, b) => Number(a['index']) - Number(b['index']))
  expect(byIndex.map(({ isError }) => isError)).toEqual([true, true, true, false])
  await goesOn()
})

test('the same id for several calls, in one answer and in the next: each call runs once, and the prompt is valid', async () => {
  const calls = [
    { id: 'same', name: 'note', text: '{"text":"a"}' },
    { id: 'same', name: 'note', text: '{"text":"b"}' },
  ]
  const { reeve, pid, firstTurn, goesOn } = await agentOf(
    (answers) => (answers < 2 ? { calls } : { text: 'done' }),
    { KEY: 'sk-test-key-1' },
  )
  expect(await firstTurn()).toMatchObject({ reason: 'finished', result: 'done' })
  const answered = await payloads(reeve, pid, 'tool_answered')
  expect(answered.map(({ isError }) => isError)).toEqual([false, false, false, false])
  expect(new Set(answered.map(({ callId }) => callId)).size).toBe(4)
  await goesOn()
})

function garbage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end('<!doctype html><title>Sign in</title>')
}

function flood(response: ServerResponse): void {
  const send = beginEvents(response)
  const piece = 'x'.repeat(100_000)
  for (let index = 0; index < 200; index++) send(chatDelta({ content: piece }))
}

function cutting(response: ServerResponse): void {
  const send = beginEvents(response)
  send(chatDelta({ content: 'I was about to ' }))
  response.write('\n', () => response.destroy())
}
