import { expect, test } from 'vitest'
import { answerHere, answerPrompt, typedAnswer } from '../../../src/cli/agent/answer-here.ts'
import type { Approval } from '../../../src/cli/agent/asked-people.ts'

function asked(request: object): Approval {
  const untyped: unknown = { id: 'a_1', pid: 'p_1', person: null, askedAt: 1, request }
  return untyped as Approval
}

const push = asked({ type: 'permission', needs: ['execute shell:git push'], defaultToNo: false })
const remove = asked({ type: 'permission', needs: ['execute shell:rm -rf build'], defaultToNo: true })
const open = asked({ type: 'question', text: 'Which port?', choices: null })
const choice = asked({ type: 'question', text: 'Which?', choices: ['red', 'green', '1'] })

test.each([
  [push, 'y', { type: 'approve' }],
  [push, 'YES', { type: 'approve' }],
  [push, 'n', { type: 'deny', advice: null }],
  [push, 'no  open a pull request', { type: 'deny', advice: 'open a pull request' }],
  [push, '', { type: 'unclear' }],
  [push, 'yes, and then the docs', { type: 'unclear' }],
  [push, 'nothing else', { type: 'unclear' }],
  [push, 'now the docs', { type: 'unclear' }],
  [remove, '', { type: 'deny', advice: null }],
  [remove, 'y', { type: 'approve' }],
  [open, '8080', { type: 'reply', value: '8080' }],
  [open, 'n', { type: 'reply', value: 'n' }],
  [open, ' ', { type: 'unclear' }],
  [choice, 'green', { type: 'reply', value: 'green' }],
  [choice, '2', { type: 'reply', value: 'green' }],
  [choice, '1', { type: 'reply', value: '1' }],
  [choice, '0', { type: 'unclear' }],
  [choice, '4', { type: 'unclear' }],
  [choice, 'blue', { type: 'unclear' }],
])('a typed line answers a request, or says nothing: %j, %j', (approval, line, answer) => {
  expect(typedAnswer(approval, line)).toMatchObject(answer)
})

test('the prompt says what may be typed, and which of several requests it is about', () => {
  expect(answerPrompt([push])).toBe('approve execute shell:git push? y, n [advice] › ')
  expect(answerPrompt([remove])).toBe('approve execute shell:rm -rf build? [y/N] › ')
  expect(answerPrompt([open])).toBe('reply › ')
  expect(answerPrompt([choice])).toBe('reply 1-3 › ')
  expect(answerPrompt([push, open])).toBe('approve execute shell:git push (1 of 2)? y, n [advice] › ')
  expect(answerPrompt([open, push])).toBe('reply (1 of 2) › ')
})

test('in a program that Reeve started nothing is answered', async () => {
  const called: string[] = []
  const verb = async () => {
    called.push('called')
    throw new Error('not to be called')
  }
  const untyped: unknown = { around: { env: { REEVE_PROCESS: 'p_1@home' } } }
  const context = untyped as Parameters<typeof answerHere>[0]
  const verbs = { approve: verb, deny: verb, reply: verb }
  await expect(answerHere(context, verbs, 'a_1', { type: 'approve' })).rejects.toMatchObject({
    code: 'forbidden',
    message: 'An answer to a_1 is for people, and this runs inside of the process p_1.',
  })
  expect(called).toEqual([])
})
