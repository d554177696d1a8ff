import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import type { PromptItem, ToolDeclaration } from '../../src/core/model/prompt.ts'
import type { Model } from '../../src/model/model.ts'
import { Models } from '../../src/model/models.ts'
import { modelOptions } from '../../src/model/options.ts'
import { systemClock } from '../../src/store/system-clock.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { tempFolder } from '../temp-folder.ts'
import { ask, watch } from './open-model.ts'

async function openScript(script: object, clock: Clock = systemClock): Promise<Model> {
  const folder = tempFolder()
  writeFileSync(join(folder, 'script.json'), JSON.stringify(script))
  const opened = await open('scripted/script.json', folder, clock)
  if (opened.type === 'refused') throw new Error(opened.message)
  return opened.model
}

function open(id: string, folder = '/', clock: Clock = systemClock) {
  const models = new Models(modelOptions.parse({}), { clock, keys: () => ({ secrets: {}, env: {} }) })
  return models.open(id, folder)
}

const said = (text: string): PromptItem => ({ type: 'assistant', parts: [{ type: 'text', text }] })
const asked = (text: string): PromptItem => ({ type: 'user', parts: [{ type: 'text', text }] })

describe('a script', () => {
  test('answers in order; the place follows from the request', async () => {
    const model = await openScript({ answers: [{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }] })
    expect(await model.call(ask('hi'))).toMatchObject({
      type: 'answered',
      parts: [{ text: 'one' }],
      finish: 'stop',
    })
    const prompt = [asked('hi'), said('one'), asked('and?')]
    expect(await model.call(ask('', { prompt }))).toMatchObject({ parts: [{ text: 'two' }] })
    // After a compaction the prompt is shorter than the session.
    expect(await model.call(ask('hi', { answersBefore: 1 }))).toMatchObject({ parts: [{ text: 'two' }] })
    expect(await model.call(ask('hi', { answersBefore: 2 }))).toMatchObject({
      type: 'failed',
      failure: { kind: 'script', message: 'The script script.json has no more answers.' },
    })
  })

  test('thinks, calls tools and reports usage; fragments come in pieces', async () => {
    const usage = { inputTokens: 10, outputTokens: 3 }
    const parts = [
      { thinking: 'hm', signature: 's' },
      { text: 'a text of some length' },
      { tool: 'add', input: { a: 1 } },
      { tool: 'add', arguments: '{"a":' },
      { tool: 'unknown' },
    ]
    const model = await openScript({ answers: [{ parts, usage }] })
    const { fragments, onFragment } = watch()
    expect(await model.call(ask('hi'), { onFragment })).toMatchObject({
      parts: [
        { type: 'reasoning', text: 'hm', providerData: { scripted: { signature: 's' } } },
        { type: 'text', text: 'a text of some length' },
        { type: 'tool_call', callId: 'call_1_2', input: { a: 1 } },
        { type: 'tool_call', callId: 'call_1_3', problem: { type: 'malformed' } },
        { type: 'tool_call', callId: 'call_1_4', problem: { type: 'unknown_tool' } },
      ],
      finish: 'tool_calls',
      usage: { inputTokens: 10, outputTokens: 3, isEstimate: false },
    })
    expect(fragments.slice(0, 4)).toEqual([
      { type: 'begun' },
      { type: 'thinking', part: 0, text: 'hm' },
      { type: 'text', part: 1, text: 'a text of so' },
      { type: 'text', part: 1, text: 'me length' },
    ])
  })

  test('fails, cuts, refuses and overflows, one try after the other', async () => {
    const tries = [
      { fail: { status: 429, retryAfterMs: 1_000 } },
      { fail: { kind: 'network' } },
      { cut: [{ text: 'I add.' }, { tool: 'add', input: { a: 1 } }] },
      { cut: [{ text: 'so far' }] },
      { refuse: 'no' },
      { overflow: 'too long' },
      { parts: [{ text: 'at last' }] },
    ]
    const model = await openScript({ answers: [{ tries }] })
    const answers = []
    for (const _ of [...tries, 0]) answers.push(await model.call(ask('hi')))
    expect(answers).toMatchObject([
      { type: 'failed', failure: { kind: 'rate_limited', status: 429, retryAfterMs: 1_000 } },
      { type: 'failed', failure: { kind: 'network' } },
      { type: 'cut', parts: [{ type: 'text', text: 'I add.' }] },
      { type: 'cut', parts: [{ text: 'so far' }] },
      { type: 'refused', message: 'no' },
      { type: 'overflow', message: 'too long' },
      { type: 'answered', parts: [{ text: 'at last' }] },
      { type: 'answered', parts: [{ text: 'at last' }] },
    ])
  })

  test('counts the tries of each session apart', async () => {
    const model = await openScript({
      answers: [{ tries: [{ fail: { status: 500 } }, { parts: [{ text: 'ok' }] }] }],
    })
    expect((await model.call(ask('hi', { cacheKey: 'a' }))).type).toBe('failed')
    expect((await model.call(ask('hi', { cacheKey: 'b' }))).type).toBe('failed')
    expect((await model.call(ask('hi', { cacheKey: 'a' }))).type).toBe('answered')
  })

  test('reacts to the newest input or result before its list of answers', async () => {
    const model = await openScript({
      replies: [
        { when: { input: 'weather' }, answer: { parts: [{ text: 'rain' }] } },
        { when: { tool: 'add', isError: true }, answer: { parts: [{ text: 'that failed' }] } },
        { when: { result: '42' }, answer: { parts: [{ text: 'the answer' }] } },
      ],
      answers: [{ parts: [{ text: 'listed' }] }],
      atEnd: 'repeat',
    })
    const withResult = (text: string, isError: boolean): PromptItem[] => [
      asked('weather'),
      { type: 'assistant', parts: [{ type: 'tool_call', callId: 'c', tool: 'add', input: {} }] },
      {
        type: 'tool_results',
        results: [{ callId: 'c', tool: 'add', output: { type: 'text', text }, isError }],
      },
    ]
    const replies = [
      await model.call(ask('the weather?')),
      await model.call(ask('', { prompt: withResult('x', true) })),
      await model.call(ask('', { prompt: withResult('it is 42', false) })),
      await model.call(ask('', { prompt: withResult('x', false) })),
    ]
    expect(replies.map((answer) => answer.type === 'answered' && answer.parts)).toMatchObject([
      [{ text: 'rain' }],
      [{ text: 'that failed' }],
      [{ text: 'the answer' }],
      [{ text: 'listed' }],
    ])
  })

  test('takes its time by the clock that it is given, and stops when it is aborted', async () => {
    const clock = simulatedClock()
    const model = await openScript(
      { answers: [{ parts: [{ text: 'x'.repeat(30) }], afterMs: 1_000, fragmentMs: 100 }] },
      clock,
    )
    const abort = new AbortController()
    const texts: number[] = []
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const answer = model.call(ask('hi'), {
      abortSignal: abort.signal,
      onFragment: (fragment) => {
        if (fragment.type !== 'text') return
        texts.push(clock.now())
        arrived[texts.length - 1]?.resolve()
      },
    })
    const start = clock.now()
    clock.advance(1_000)
    await arrived[0]?.promise
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(100)
    await arrived[1]?.promise
    abort.abort()
    expect(await answer).toMatchObject({
      type: 'aborted',
      parts: [{ text: 'x'.repeat(24) }],
      usage: { isEstimate: true },
    })
    expect(texts).toEqual([start + 1_000, start + 1_100])
  })

  test('checks the prompt as strictly as a provider', async () => {
    const model = await openScript({ answers: [{ parts: [] }] })
    expect(await model.call(ask('', { prompt: [said('hi')] }))).toMatchObject({
      type: 'failed',
      failure: { kind: 'invalid_request' },
    })
  })

  test.each([
    ['{"answers": [{"txt": "typo"}]}', /answers/],
    ['not JSON', /is not JSON/],
    ['{"answers": [{"part": []}]}', /^The script bad\.json cannot be used: answers\.0\.parts: .*"part"\.$/],
    ['{"answers": [{"cut": [{"txt": "x"}]}]}', /answers\.0\.cut\.0: .*"txt"/],
    ['{"answer": []}', /answer/],
  ])('%s is refused, and the message says where', async (text, message) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'bad.json'), text)
    const opened = await open('scripted/bad.json', folder)
    expect(opened).toMatchObject({ type: 'refused', code: 'script_invalid' })
    expect(opened.type === 'refused' && opened.message).toMatch(message)
  })

  test('that does not exist is refused', async () => {
    expect(await open('scripted/nowhere.json')).toMatchObject({ type: 'refused', code: 'script_invalid' })
  })
})

describe('scripted/demo', () => {
  const tool = (name: string): ToolDeclaration => ({ name, description: name, input: { type: 'object' } })
  const tools = ['read_file', 'edit_file', 'run_command'].map(tool)

  /** Plays the demo with tools that return such results, without its delays. */
  async function play(
    resultOf: (name: string) => { readonly text: string; readonly isError: boolean },
  ): Promise<string[]> {
    const clock: Clock = {
      now: () => 0,
      after: (_, task) => {
        queueMicrotask(task)
        return () => {}
      },
    }
    const opened = await open('scripted/demo', '/', clock)
    if (opened.type === 'refused') throw new Error(opened.message)
    const prompt: PromptItem[] = [asked('make the tests pass')]
    const done: string[] = []
    for (let turn = 0; turn < 10; turn++) {
      const answer = await opened.model.call(ask('', { prompt, tools }))
      if (answer.type !== 'answered') throw new Error(JSON.stringify(answer))
      prompt.push({ type: 'assistant', by: opened.model, parts: answer.parts })
      const calls = answer.parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))
      if (calls.length === 0)
        return [...done, answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')]
      expect(calls.every(({ problem }) => problem === undefined)).toBe(true)
      done.push(...calls.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`))
      const results = calls.map(({ callId, tool }) => {
        const { text, isError } = resultOf(tool)
        return { callId, tool, output: { type: 'text', text }, isError } as const
      })
      prompt.push({ type: 'tool_results', results })
    }
    throw new Error('The demo does not end.')
  }

  test('plays a small coding session: read, test, edit, test, done', async () => {
    expect(await play(() => ({ text: 'ok', isError: false }))).toEqual([
      'read_file {"path":"sum.js"}',
      'run_command {"command":"node --test"}',
      'edit_file {"path":"sum.js","edits":[{"oldText":"return a - b","newText":"return a + b"}]}',
      'run_command {"command":"node --test"}',
      'Done: `sum` in `sum.js` adds now, and the tests pass.',
    ])
  })

  test('says so in a folder that it does not know', async () => {
    const [read, text] = await play((name) => ({ text: 'no such file', isError: name === 'read_file' }))
    expect(read).toBe('read_file {"path":"sum.js"}')
    expect(text).toMatch(/^I am a script/)
  })
})
