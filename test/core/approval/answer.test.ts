import { expect, test } from 'vitest'
import type { Approval } from '../../../src/core/approval/approval.ts'
import { decideAnswer, expired, settledByRule, withdrawn } from '../../../src/core/approval/decide-answer.ts'
import { refuseAnswerer } from '../../../src/core/approval/may-answer.ts'
import { coveringRule, rulesOfGrant, withAnswers } from '../../../src/core/approval/remembered-answer.ts'
import type { Action } from '../../../src/core/capability/action.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'

const RULE: Rule = { id: 'r1', effect: 'allow', rights: ['execute'], resource: 'shell:git' }

const ACTION: Action = {
  subject: 'session:agent',
  parent: null,
  host: null,
  act: { type: 'command', argv: ['git', 'push'], stdin: 'null', programs: [] },
  cwd: '/work',
  environmentHash: null,
  sandbox: null,
}
const asker = {
  subject: 'session:agent',
  session: 'agent',
  ancestors: ['p_parent'],
  reviewer: null,
  priority: 0,
  reason: null,
} as const
const permission = {
  ...asker,
  type: 'permission',
  action: ACTION,
  actionHash: 'hash',
  needs: ['execute shell:git push'],
  rule: { subject: 'home', id: 'r0', text: 'ask  execute shell:git push' },
  justification: null,
  defaultToNo: false,
  variables: {},
  grants: ['once', 'session', 'always'],
  grantRules: { process: [], session: [RULE] },
  alwaysRule: RULE,
  settles: [{ subject: 'home', rule: 'r0' }],
  repeatHash: 'hash for every time',
  uses: [],
  effects: [],
  boundBy: [],
} as const
const pending: Approval = {
  id: 'a_1',
  pid: 'p_push',
  state: 'pending',
  askedAt: 1_000,
  person: null,
  expiresAt: 9_000,
  pushAt: 3_000,
  request: permission,
  answer: null,
}
const question: Approval = {
  ...pending,
  request: { ...asker, type: 'question', text: 'Which colour?', choices: ['red', 'blue'] },
}
const YES = { type: 'approve', grant: 'once' } as const

test('a yes settles the approval once, and a later answer gets the recorded decision', () => {
  const first = decideAnswer(pending, YES, 'human:ada', 2_000)
  expect(first).toMatchObject({
    type: 'settle',
    approval: {
      state: 'answered',
      answer: { type: 'approved', by: 'human:ada', grant: 'once', at: 2_000 },
    },
    settled: { approval: 'a_1', how: 'approved' },
  })
  if (first.type !== 'settle') throw new Error('not settled')
  expect(decideAnswer(first.approval, { type: 'deny' }, 'human:bob', 2_001)).toEqual({
    type: 'settled_before',
    approval: first.approval,
  })
})

test('an answer at or after the expiry is too late: the process ends instead, and no person has ended it', () => {
  for (const at of [9_000, 9_001])
    expect(decideAnswer(pending, YES, 'human:ada', at)).toEqual({ type: 'too_late' })
  expect(expired(pending, 'kernel:k1')).toMatchObject({
    type: 'settle',
    approval: { state: 'expired', answer: null },
    settled: { how: 'expired', by: 'kernel:k1' },
  })
  expect(decideAnswer(pending, YES, 'human:ada', 8_999)).toMatchObject({ settled: { how: 'approved' } })
})

test('a settled approval neither expires nor is withdrawn', () => {
  const settled = { ...pending, state: 'answered' } as const
  expect(expired(settled, 'kernel:k1')).toEqual({ type: 'settled_before', approval: settled })
  expect(withdrawn(settled)).toBe(settled)
  expect(withdrawn(pending)).toMatchObject({ state: 'withdrawn' })
})

test('a denial carries its advice to the asker', () => {
  expect(
    decideAnswer(pending, { type: 'deny', advice: 'Open a pull request.' }, 'host', 2_000),
  ).toMatchObject({
    approval: { answer: { type: 'denied', advice: 'Open a pull request.' } },
    settled: { how: 'denied', advice: 'Open a pull request.' },
  })
})

test('an edit replaces the spec for this one time', () => {
  const edit = { spec: { argv: ['git', 'push', '--dry-run'] }, actionHash: 'of the edit' }
  expect(decideAnswer(pending, { ...YES, edit }, 'host', 2_000)).toMatchObject({
    approval: { answer: { spec: edit.spec } },
    settled: { how: 'approved', ...edit },
  })
  expect(decideAnswer(pending, { type: 'approve', grant: 'session', edit }, 'host', 2_000)).toMatchObject({
    type: 'refuse',
    refusal: { code: 'invalid_input' },
  })
})

test('always stores the rule that was shown, and no other one', () => {
  const always = { type: 'approve', grant: 'always' } as const
  expect(decideAnswer(pending, { ...always, rule: RULE }, 'host', 2_000)).toMatchObject({ type: 'settle' })
  for (const rule of [undefined, { ...RULE, resource: 'shell:*' }])
    expect(
      decideAnswer(pending, rule === undefined ? always : { ...always, rule }, 'host', 2_000),
    ).toMatchObject({ type: 'refuse', refusal: { code: 'invalid_input' } })
})

test('a grant that was not offered is refused', () => {
  const narrow: Approval = { ...pending, request: { ...permission, grants: ['once'] } }
  expect(decideAnswer(narrow, { type: 'approve', grant: 'session' }, 'host', 2_000)).toMatchObject({
    type: 'refuse',
    refusal: { remedy: 'Use once.' },
  })
})

test('a question takes one of its choices, and a permission takes no reply', () => {
  expect(decideAnswer(question, { type: 'reply', value: 'blue' }, 'host', 2_000)).toMatchObject({
    type: 'settle',
    settled: { how: 'answered' },
    value: 'blue',
  })
  for (const [approval, answer] of [
    [question, { type: 'reply', value: 'green' }],
    [question, YES],
    [pending, { type: 'reply', value: 'blue' }],
  ] as const)
    expect(decideAnswer(approval, answer, 'host', 2_000)).toMatchObject({ type: 'refuse' })
})

const STRANGER = { sessions: ['other'], ancestors: [], askingSessions: ['above'], mayApprove: true }

test('people and the host may answer', () => {
  for (const by of ['host', 'human:ada'] as const)
    expect(refuseAnswerer(pending, by, { ...STRANGER, mayApprove: false })).toBeUndefined()
})

test('another session or process answers only with the right approve', () => {
  for (const by of ['session:other', 'process:p_other'] as const) {
    expect(refuseAnswerer(pending, by, STRANGER)).toBeUndefined()
    expect(refuseAnswerer(pending, by, { ...STRANGER, mayApprove: false })?.code).toBe('denied')
  }
})

test('siblings below one session are not related', () => {
  const sibling = { ...STRANGER, sessions: ['other', 'above'] }
  expect(refuseAnswerer(pending, 'session:other', sibling)).toBeUndefined()
})

test.each([
  ['the asker itself', 'session:agent', { sessions: ['agent'] }],
  ['a process of its session', 'process:p_other', { sessions: ['agent'] }],
  ['a session above', 'session:above', { sessions: ['above'] }],
  ['a session below', 'session:below', { sessions: ['below', 'agent'] }],
  ['the process that waits', 'process:p_push', {}],
  ['its parent', 'process:p_parent', {}],
  ['its child', 'process:p_child', { ancestors: ['p_push'] }],
  ['a kernel', 'kernel:k1', { sessions: [] }],
] as const)('with the right approve, too, %s may not answer', (_, by, facts) => {
  expect(refuseAnswerer(pending, by, { ...STRANGER, ...facts })).toMatchObject({ code: 'denied' })
})

test('a descendant of the asking process may not answer for a sibling', () => {
  const asked: Approval = {
    ...pending,
    request: { ...permission, subject: 'process:p_parent', session: null },
  }
  const below = { ...STRANGER, sessions: [], ancestors: ['p_parent'] }
  expect(refuseAnswerer(asked, 'process:p_sibling', below)).toMatchObject({ code: 'denied' })
})

test('an agent that may approve does so once and without changes', () => {
  const by = 'session:reviewer'
  expect(decideAnswer(pending, YES, by, 2_000)).toMatchObject({ type: 'settle' })
  const edit = { spec: {}, actionHash: 'of the edit' }
  for (const answer of [
    { type: 'approve', grant: 'session' },
    { type: 'approve', grant: 'always', rule: RULE },
    { ...YES, edit },
  ] as const)
    expect(decideAnswer(pending, answer, by, 2_000)).toMatchObject({
      type: 'refuse',
      refusal: { code: 'denied' },
    })
})

test('each grant stores its rules in the set that it counts for', () => {
  expect(rulesOfGrant(permission, 'once')).toBe(null)
  expect(rulesOfGrant(permission, 'session')).toEqual({ subject: 'session:agent', rules: [RULE] })
  expect(rulesOfGrant(permission, 'always')).toEqual({ subject: 'home', rules: [RULE] })
})

test('a rule that is stored again answers what both answers did', () => {
  const links = (...rules: readonly string[]) => rules.map((rule) => ({ subject: 'home', rule }))
  const set = {
    subject: 'home',
    rules: [{ ...RULE, settles: links('a', 'b') }],
    closed: false,
    source: null,
    trusted: true,
  }
  expect(withAnswers(set, [{ ...RULE, settles: links('b', 'c') }])).toEqual([
    { ...RULE, settles: links('a', 'b', 'c') },
  ])
})

test('a pending request is covered by the rule of its action that answers every rule that asked', () => {
  const rule: Rule = { ...RULE, constraints: { action: permission.repeatHash }, settles: permission.settles }
  const set = (one: Rule, trusted = true) => ({
    subject: 'home',
    rules: [one],
    closed: false,
    source: null,
    trusted,
  })
  expect(coveringRule(permission, set(rule), 2_000)).toBe(rule)
  for (const other of [
    { ...rule, constraints: { action: 'another' } },
    { ...rule, settles: [] },
    { ...rule, settles: [{ subject: 'session:agent', rule: 'r0' }] },
    { ...rule, effect: 'ask' },
    { ...rule, expiresAt: 2_000 },
    { ...rule, uses: 1 },
  ] as const)
    expect(coveringRule(permission, set(other), 2_000)).toBe(undefined)
  expect(coveringRule(permission, set(rule, false), 2_000)).toBe(undefined)
})

test('a rule answers a pending request once, and not one that has expired', () => {
  const ref = { subject: 'home', id: 'r1', text: 'allow' }
  expect(settledByRule(pending, ref, 'kernel:k1', 2_000)).toMatchObject({
    type: 'settle',
    approval: { answer: { type: 'approved', grant: 'once', rule: ref } },
    settled: { how: 'approved' },
  })
  expect(settledByRule(pending, ref, 'kernel:k1', 9_000)).toEqual({ type: 'too_late' })
  expect(settledByRule({ ...pending, state: 'withdrawn' }, ref, 'kernel:k1', 2_000)).toMatchObject({
    type: 'settled_before',
  })
})
