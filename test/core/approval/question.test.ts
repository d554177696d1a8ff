import { expect, test } from 'vitest'
import {
  isQuestion,
  questionAnswer,
  questionOf,
  questionProcess,
} from '../../../src/core/approval/question.ts'
import type { Outcome } from '../../../src/core/process/record.ts'
import { isRefusal } from '../../../src/core/refusal.ts'

const ended = (more: Partial<Outcome>): Outcome => ({
  status: 'cancelled',
  exitCode: null,
  signal: null,
  reason: null,
  source: 'human:ada',
  result: null,
  evidence: null,
  startedAt: null,
  endedAt: 1,
  ...more,
})

test('a question is the tool human.ask with its input, named after its first line', () => {
  const asked = questionProcess({
    question: 'Ship it?\nThe tests pass.',
    choices: ['yes', 'no'],
    person: undefined,
  })
  expect(asked).toEqual({
    kind: 'tool',
    label: 'Ship it?',
    spec: { tool: 'human.ask', input: { question: 'Ship it?\nThe tests pass.', choices: ['yes', 'no'] } },
  })
  expect(isQuestion(asked)).toBe(true)
  expect(questionOf(asked.spec)).toEqual(asked.spec.input)
  expect(isQuestion({ kind: 'tool', spec: { tool: 'human.asks' } })).toBe(false)
  expect(isQuestion({ kind: 'workflow', spec: { tool: 'human.ask' } })).toBe(false)
})

test.each([
  ['no question', {}, 'question'],
  ['no object', 'Ship it?', 'question'],
  ['an empty question', { question: ' ' }, 'question'],
  ['a question that is too long', { question: 'x'.repeat(10_001) }, 'question'],
  ['no choices', { question: 'x', choices: [] }, 'choices'],
  ['equal choices', { question: 'x', choices: ['a', 'a'] }, 'choices'],
  ['choices that are no texts', { question: 'x', choices: [1] }, 'choices'],
  ['no time', { question: 'x', timeoutMs: 0 }, 'timeoutMs'],
  ['a person with a prefix', { question: 'x', person: 'human:ada' }, 'person'],
  ['a fraction as priority', { question: 'x', priority: 0.5 }, 'priority'],
  ['an unknown member', { question: 'x', choice: ['a'] }, 'choice'],
])('%s is refused, with the name of the member', (_, input, field) => {
  const refused = questionOf({ tool: 'human.ask', input })
  expect(isRefusal(refused) && refused).toMatchObject({ code: 'invalid_input', details: { field } })
})

test('the outcome of a question says who replied or denied, or that no answer came', () => {
  expect(questionAnswer(ended({ status: 'completed', reason: 'answered', result: 'yes' }))).toEqual({
    type: 'replied',
    value: 'yes',
    by: 'human:ada',
  })
  expect(questionAnswer(ended({ reason: 'approval_denied', result: { advice: 'wait' } }))).toEqual({
    type: 'denied',
    advice: 'wait',
    by: 'human:ada',
  })
  expect(questionAnswer(ended({ reason: 'approval_denied' }))).toMatchObject({ advice: null })
  expect(questionAnswer(ended({ reason: 'approval_expired' }))).toEqual({ type: 'expired' })
  expect(questionAnswer(ended({ reason: 'parent ended' }))).toEqual({
    type: 'withdrawn',
    reason: 'parent ended',
  })
})
