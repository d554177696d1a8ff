import { describe, expect, test } from 'vitest'
import { promptProblem } from '../../../src/core/model/check-prompt.ts'
import { continueAnswer } from '../../../src/core/model/continue-answer.ts'
import { estimateRequest, estimateText, estimateUsage } from '../../../src/core/model/estimate.ts'
import { cacheBreakpoints, type PromptItem, type ToolCall } from '../../../src/core/model/prompt.ts'

const user: PromptItem = { type: 'user', parts: [{ type: 'text', text: 'hi' }] }
const call = (callId: string): ToolCall => ({ type: 'tool_call', callId, tool: 'add', input: {} })
const answer = (...ids: string[]): PromptItem => ({ type: 'assistant', parts: ids.map(call) })
const results = (...ids: string[]): PromptItem => ({
  type: 'tool_results',
  results: ids.map((callId) => ({
    callId,
    tool: 'add',
    output: { type: 'text', text: '3' },
    isError: false,
  })),
})
const said: PromptItem = { type: 'assistant', parts: [{ type: 'text', text: 'done' }] }

describe('a prompt', () => {
  test('with an answer for each call is in order', () => {
    expect(promptProblem([user, answer('a', 'b'), results('b', 'a'), said, user])).toBeUndefined()
  })

  test.each([
    ['is empty', [], 'The prompt is empty.'],
    [
      'has an empty input',
      [{ type: 'user', parts: [{ type: 'text', text: '' }] }],
      'Item 0: the input is empty.',
    ],
    ['ends with an answer', [user, said], 'The prompt ends with an answer: there is nothing to answer.'],
    [
      'has a call without a result',
      [user, answer('a', 'b'), results('a')],
      'Item 2: the call b has no result.',
    ],
    ['goes on before a result', [user, answer('a'), user], 'Item 2: the call a has no result.'],
    [
      'has a result of no call',
      [user, said, results('a')],
      'Item 2: the result of a belongs to no call of the answer before.',
    ],
    ['has a result twice', [user, answer('a'), results('a', 'a')], 'Item 2: the call a has two results.'],
    [
      'uses an id again',
      [user, answer('a'), results('a'), answer('a'), results('a')],
      'Item 3: the call id a occurs twice.',
    ],
  ] as const)('that %s is not', (_, prompt, problem) => {
    expect(promptProblem(prompt)).toBe(problem)
  })

  test('is cached at its end, and at the end of the request before', () => {
    expect(cacheBreakpoints([user])).toEqual([0])
    expect(cacheBreakpoints([user, answer('a'), results('a')])).toEqual([0, 2])
    expect(cacheBreakpoints([user, answer('a'), results('a'), answer('b'), results('b')])).toEqual([2, 4])
  })
})

describe('after a cut', () => {
  const by = { provider: 'p', model: 'm' }

  test('the text that arrived is followed by a note', () => {
    const items = continueAnswer([{ type: 'text', text: 'half' }], by)
    expect(items.map(({ type }) => type)).toEqual(['assistant', 'note'])
    expect(promptProblem([user, ...items])).toBeUndefined()
  })

  test('results follow whole calls, so there is no note between them', () => {
    expect(continueAnswer([call('a')], by)).toEqual([{ type: 'assistant', by, parts: [call('a')] }])
  })

  test('without anything complete, the request stays the same', () => {
    expect(continueAnswer([], by)).toEqual([])
  })
})

describe('an estimate', () => {
  test('is rather too high: English, code, and other scripts', () => {
    // Known counts of a common tokenizer: 9, 12 and 7 tokens.
    expect(estimateText('The quick brown fox jumps over the dog.')).toBeGreaterThanOrEqual(9)
    expect(estimateText('const sum = (a, b) => a + b')).toBeGreaterThanOrEqual(9)
    expect(estimateText('素早い茶色の狐')).toBeGreaterThanOrEqual(7)
  })

  test('counts system, tools and all items', () => {
    const request = { system: 'x'.repeat(300), prompt: [user], tools: [] }
    const tool = { name: 'add', description: 'y'.repeat(300), input: {} }
    const longer = { ...request, prompt: [user, answer('a'), results('a')], tools: [tool] }
    expect(estimateRequest(request)).toBe(8 + 100 + 8 + 1)
    expect(estimateRequest(longer)).toBeGreaterThan(estimateRequest(request) + 100)
  })

  test('of the usage of a cut call is marked', () => {
    const request = { system: '', prompt: [user], tools: [] }
    expect(estimateUsage(request, [{ type: 'text', text: 'abcdef' }])).toEqual({
      inputTokens: 17,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 2,
      reasoningTokens: 0,
      isEstimate: true,
    })
  })
})
