import { expect, test } from 'vitest'
import { ownerPolicy } from '../../../src/core/authority/authorize.ts'
import { receive, settle, take } from '../../../src/core/inbox/inbox.ts'
import { noticesOf } from '../../../src/core/inbox/notice.ts'
import { type Message, matchesMessage } from '../../../src/core/message/message.ts'
import { decide } from '../../../src/core/process/decide.ts'
import type { Facts } from '../../../src/core/process/decision.ts'
import type { Intent, WaitRef } from '../../../src/core/process/intent.ts'
import type { Actor, Scope } from '../../../src/core/process/record.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { after, RULES, registered } from '../registered.ts'

const A = 'p_aaaaaaaaaaaa'
const B = 'p_bbbbbbbbbbbb'
const MESSAGE: Message = {
  from: `process:${B}`,
  channel: 'work',
  correlationId: null,
  replyTo: null,
  priority: 'normal',
  value: 'hello',
}

function sent(message: Partial<Message> = {}, to: Scope = `process:${A}`, key = 'k1') {
  const whole = { ...MESSAGE, ...message }
  return { type: 'message', pid: A, to, message: whole, key, actor: whole.from, at: 2_000 } as const
}

function decided(row: ProcessRow, intent: Intent, facts: Partial<Facts> = {}) {
  return decide({ row, replayed: null, ...facts }, intent, RULES)
}

function waiting(filter: WaitRef['filter'] = {}) {
  const held = { ...registered(A), holder: 'k', fence: 1 }
  const fence = { holder: 'k', fence: 1 }
  const by = { pid: A, actor: `process:${A}`, at: 1_500, fence } as const
  const running = after(held, { type: 'start', ...by })
  const wait = { on: 'message', name: 'any', ordinal: 1, filter } as const
  return { row: after(running, { type: 'enter_wait', wait, until: null, ...by }), running, wait, by }
}

test.for([
  [{}, true],
  [{ channel: 'work' }, true],
  [{ channel: 'play' }, false],
  [{ correlationId: 'c' }, false],
  [{ from: `process:${B}` as const }, true],
  [{ from: 'host' as const, channel: 'work' }, false],
] as const)('a filter %j selects the message: %j', ([filter, expected]) => {
  expect(matchesMessage(filter, MESSAGE)).toBe(expected)
})

test('a message to a process is one event of it, and a notice in its inbox', () => {
  const row = registered(A)
  const decision = decided(row, sent())
  if (decision.type !== 'append') throw new Error(JSON.stringify(decision))
  expect(decision.events).toEqual([
    {
      type: 'message_received',
      payload: { ...MESSAGE, taken: false },
      replayKey: `message:from:process:${B}:k1`,
    },
  ])
  const event = { pid: A, seq: 2, at: 5, actor: 'host', ...decision.events[0] } as never
  expect(noticesOf(row.record, event, { group: null, parent: null })).toEqual([
    { pid: A, seq: 2, at: 5, replyTo: null, scope: `process:${A}`, kind: 'message', payload: MESSAGE },
  ])
})

test('a wait whose filter matches takes the message at once, without a notice', () => {
  const { row } = waiting({ channel: 'work' })
  const decision = decided(row, sent())
  if (decision.type !== 'append') throw new Error(JSON.stringify(decision))
  expect(decision.events.map(({ type, payload }) => [type, payload])).toEqual([
    ['message_received', { ...MESSAGE, taken: true }],
    [
      'wait_left',
      { on: 'message', name: 'any', ordinal: 1, how: 'message', signalSeq: null, messageSeq: 4, value: null },
    ],
  ])
  const event = { pid: A, seq: 4, at: 5, actor: 'host', ...decision.events[0] } as never
  expect(noticesOf(row.record, event, { group: null, parent: null })).toEqual([])
  expect(after(row, sent()).record).toMatchObject({ status: 'running', wait: null })
})

test('a message that the filter excludes leaves the wait as it is', () => {
  const { row } = waiting({ channel: 'play' })
  expect(after(row, sent()).record).toMatchObject({
    status: 'waiting',
    wait: { filter: { channel: 'play' } },
  })
})

test('a wait takes a message that is in the inbox when it is entered', () => {
  const { running, wait, by } = waiting()
  const decision = decided(running, { type: 'enter_wait', wait, until: null, ...by }, { waitingMessage: 2 })
  if (decision.type !== 'append') throw new Error(JSON.stringify(decision))
  expect(decision.events.map(({ type }) => type)).toEqual(['wait_entered', 'wait_left'])
  expect(decision.events[1]?.payload).toMatchObject({ how: 'message', messageSeq: 2 })
})

test('a repeated key is one message, and with another content a conflict', () => {
  const row = registered(A)
  const replayed = { pid: A, seq: 2, type: 'message_received', at: 5, actor: 'host', position: 1 } as const
  const stored = { ...replayed, replayKey: 'k', payload: { ...MESSAGE, taken: true } } as never
  expect(decided(row, sent(), { replayed: stored }).type).toBe('replay')
  expect(decided(row, sent({ value: 'other' }), { replayed: stored })).toMatchObject({
    refusal: { code: 'replay_conflict' },
  })
})

test('a message is refused by an ended addressee, an ended sender, a full inbox, and if it is too large', () => {
  const row = registered(A)
  const ending = { status: 'completed' } as const
  const by = { pid: A, actor: 'host', at: 1_500, fence: { holder: 'k', fence: 1 } } as const
  const ended = after({ ...row, holder: 'k', fence: 1 }, { type: 'end', ending, replayKey: 'e', ...by })
  const facts = { sender: null, session: null, open: 0 }
  const codeOf = (decision: ReturnType<typeof decided>) =>
    decision.type === 'refuse' ? decision.refusal.code : decision.type
  expect(codeOf(decided(ended, sent()))).toBe('already_ended')
  expect(codeOf(decided(row, sent(), { message: { ...facts, sender: ended.record } }))).toBe('already_ended')
  expect(codeOf(decided(row, sent(), { message: { ...facts, open: 1_000 } }))).toBe('inbox_full')
  expect(codeOf(decided(row, sent(), { message: { ...facts, open: 999 } }))).toBe('append')
  expect(codeOf(decided(row, sent({ value: 'x'.repeat(10_001) })))).toBe('payload_too_large')
  expect(codeOf(decided(row, sent({}, 'session:s1'), { message: facts }))).toBe('session_unknown')
})

test('a message to a session or a person is an event of the sender', () => {
  const row = registered(A)
  const decision = decided(row, sent({ from: `process:${A}` }, 'human:host'))
  if (decision.type !== 'append') throw new Error(JSON.stringify(decision))
  const payload = { to: 'human:host', ...MESSAGE, from: `process:${A}` }
  expect(decision.events).toEqual([{ type: 'message_sent', payload, replayKey: 'message:to:human:host:k1' }])
  const event = { pid: A, seq: 2, at: 5, actor: 'host', ...decision.events[0] } as never
  expect(noticesOf(row.record, event, { group: null, parent: null })).toMatchObject([
    { scope: 'human:host', kind: 'message', payload: { label: 't', value: 'hello' } },
  ])
})

test('a process writes to itself, its parent, its children, its session and the person at the machine only', () => {
  const { record: base } = registered(A)
  const parent = { ...base, pid: A, owner: { session: 's1' } }
  const child = { ...base, pid: B, parent: A, owner: { session: 's1' } }
  const stranger = { ...base, pid: 'p_cccccccccccc' }
  const may = (subject: Actor, to: Scope, addressee: typeof base | null, sender: typeof base | null) =>
    ownerPolicy(subject, 'signal', { type: 'message', route: { to, addressee, sender } })?.code ?? 'allowed'
  expect(may(`process:${A}`, `process:${A}`, parent, parent)).toBe('allowed')
  expect(may(`process:${A}`, `process:${B}`, child, parent)).toBe('allowed')
  expect(may(`process:${B}`, `process:${A}`, parent, child)).toBe('allowed')
  expect(may(`process:${B}`, 'session:s1', null, child)).toBe('allowed')
  expect(may(`process:${B}`, 'human:host', null, child)).toBe('allowed')
  expect(may('session:s1', `process:${B}`, child, null)).toBe('allowed')
  expect(may('host', `process:${B}`, child, null)).toBe('allowed')
  expect(may(`process:${stranger.pid}`, `process:${A}`, parent, stranger)).toBe('denied')
  expect(may(`process:${A}`, `process:${stranger.pid}`, stranger, parent)).toBe('denied')
  expect(may(`process:${stranger.pid}`, 'session:s1', null, stranger)).toBe('denied')
  expect(may(`process:${B}`, 'human:eve', null, child)).toBe('denied')
  expect(may('session:s2', `process:${B}`, child, null)).toBe('denied')
})

test('a consumer that has taken a message loses it to a wait of the process', () => {
  const empty = {
    scope: `process:${A}`,
    consumers: {},
    taken: [],
    overflow: { recent: [], tripped: null },
  } as never
  const { inbox } = take(empty, [7, 8], { consumer: 'c', at: 0, visibilityMs: 1_000, limit: 10 })
  const received = receive(inbox, 7)
  expect(settle(received, [7, 8], 'c', 500)).toMatchObject({ done: [8], lost: [7] })
})
