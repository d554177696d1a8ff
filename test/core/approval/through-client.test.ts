import { expect, test } from 'vitest'
import { refuseThroughClient } from '../../../src/core/approval/answer-through-client.ts'
import type { Approval } from '../../../src/core/approval/approval.ts'
import type { Answer } from '../../../src/core/approval/decide-answer.ts'

const pending: Approval = {
  id: 'a_1',
  pid: 'p_asks',
  state: 'pending',
  askedAt: 1_000,
  person: null,
  expiresAt: null,
  pushAt: null,
  request: {
    type: 'question',
    text: 'Which colour?',
    choices: null,
    subject: 'session:mcp-a',
    session: 'mcp-a',
    ancestors: [],
    reviewer: null,
    priority: 0,
    reason: null,
  },
  answer: null,
}
const NONE = { askingSessions: [], originators: [] }
const FORM = { sessions: [], elicited: true }
const given = (answer: Answer) => ({ answer, isEdited: false })
const REPLY = given({ type: 'reply', value: 'red' })

test('a form approves as it is, once or for the session; no and a reply always count', () => {
  for (const answer of [
    { type: 'approve', grant: 'once' },
    { type: 'approve', grant: 'session' },
    { type: 'deny' },
    REPLY.answer,
  ] as const)
    expect(refuseThroughClient(pending, given(answer), FORM, NONE)).toBe(undefined)
  for (const answer of [
    given({ type: 'approve', grant: 'process' }),
    given({ type: 'approve', grant: 'always' }),
    { answer: { type: 'approve', grant: 'once' }, isEdited: true },
  ] as const)
    expect(refuseThroughClient(pending, answer, FORM, NONE)).toMatchObject({ code: 'denied' })
})

test('a client answers no request of its own sessions, also none that has no session any more', () => {
  const of = (...sessions: readonly string[]) => ({ sessions, elicited: false })
  const moved: Approval = {
    ...pending,
    request: { ...pending.request, subject: 'process:p_up', session: null },
  }
  const originators = ['process:p_up', 'session:mcp-a.2'] as const
  for (const client of [of('mcp-a'), of('mcp-a*'), of('mcp-*'), of('other', 'mcp-a')])
    expect(refuseThroughClient(pending, REPLY, client, NONE)).toMatchObject({ code: 'denied' })
  expect(refuseThroughClient(moved, REPLY, of('mcp-a*'), { ...NONE, originators })).toMatchObject({
    code: 'denied',
  })
  expect(refuseThroughClient(moved, REPLY, of('top'), { ...NONE, askingSessions: ['top'] })).toMatchObject({
    code: 'denied',
  })
  for (const client of [of(), of('mcp-b*'), of('mcp-')])
    expect(refuseThroughClient(pending, REPLY, client, NONE)).toBe(undefined)
  expect(refuseThroughClient(moved, REPLY, of('mcp-b*'), { ...NONE, originators })).toBe(undefined)
})
