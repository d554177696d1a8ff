import { expect, test } from 'vitest'
import { endDuties, factsNeeded } from '../../../src/core/process/facts-needed.ts'
import { after, registered } from '../registered.ts'

const PID = 'p_azzzzzzzzzzz'
const asked = { pid: PID, actor: 'host', at: 2_000 } as const
const fence = { holder: 'k1', fence: 1 }
const nothing = {
  replayKey: null,
  overflowOf: null,
  approvalsOf: null,
  messagesOf: null,
  newOwner: null,
  account: null,
}

const row = registered(PID)
const live = { ...row, record: { ...row.record, owner: { session: 's1' } } }

test('the first end of a live process needs no fact but the row', () => {
  const end = { type: 'end', ...asked, ending: { status: 'completed' }, replayKey: 'end:1', fence } as const
  expect(factsNeeded(live, end)).toEqual(nothing)
  const ended = after(live, { type: 'request_abandon', ...asked, reason: 'test' })
  expect(factsNeeded(ended, end)).toEqual({ ...nothing, replayKey: 'end:1' })
})

test('a step is looked for only up to the last step on record', () => {
  const step = { stepIndex: 3, kind: 'step', name: 's', began: 1, tries: 1, how: 'done' } as const
  const journal = { last: 2, attempts: 0 }
  const begun = { ...live, record: { ...live.record, journal } }
  expect(factsNeeded(begun, { type: 'end_step', ...asked, step, fence })).toEqual(nothing)
  expect(factsNeeded(begun, { type: 'end_step', ...asked, step: { ...step, stepIndex: 2 }, fence })).toEqual({
    ...nothing,
    replayKey: 'step:2',
  })
})

test('a watch match needs the overflow state of the scope that is told', () => {
  const match = {
    watch: 'w',
    wanted: 'x',
    offset: 7,
    end: 9,
    lines: [],
    more: 0,
    heldBack: 0,
    missed: null,
    strikes: 0,
  }
  expect(factsNeeded(live, { type: 'match', ...asked, match, fence })).toEqual({
    ...nothing,
    replayKey: 'watch:w:7',
    overflowOf: 'session:s1',
  })
})

test('only a later holder asks whether an approval was asked for before', () => {
  const wait = { on: 'approval', name: 'deploy', ordinal: 1 } as const
  const enter = { type: 'enter_wait', ...asked, wait, until: null, fence } as const
  const needed = (holds: number) => factsNeeded({ ...live, holder: 'k1', fence: holds }, enter).approvalsOf
  expect([1, 2, 3].map(needed)).toEqual([null, 'session:s1', 'session:s1'])
  const signal = { ...enter, wait: { ...wait, on: 'signal' } } as const
  expect(factsNeeded({ ...live, holder: 'k1', fence: 2 }, signal).approvalsOf).toBeNull()
})

test('a move to another owner needs that owner', () => {
  const owner = { session: 's2' }
  expect(factsNeeded(live, { type: 'change_owner', ...asked, owner })).toEqual({
    ...nothing,
    newOwner: owner,
  })
})

test('an end has duties once: to the processes that wait for it, and to its account', () => {
  const { record } = live
  const ended = after(live, { type: 'request_abandon', ...asked, reason: 'test' }).record
  const none = {
    parent: null,
    awaitedBy: [],
    account: null,
    withdraws: null,
    isReview: false,
    isSoftLimit: false,
    schedule: null,
    pathsOn: null,
    trigger: null,
  }
  expect(endDuties(record, record)).toEqual(none)
  expect(endDuties(ended, ended)).toEqual(none)
  expect(endDuties(record, ended)).toEqual(none)
  expect(endDuties(record, { ...ended, awaitedBy: ['p_b'], kind: 'command' })).toEqual({
    parent: null,
    awaitedBy: ['p_b'],
    account: 'count_use',
    withdraws: null,
    isReview: false,
    isSoftLimit: false,
    schedule: null,
    pathsOn: null,
    trigger: null,
  })
  const limits = { ...ended.limits, allowance: { toolCalls: 1 } }
  expect(endDuties(record, { ...ended, limits, kind: 'command' }).account).toBe('give_back')
})

test('an end asks for the parent only if it waits, or if the process is a tool call', () => {
  const ended = after(live, { type: 'request_abandon', ...asked, reason: 'test' }).record
  const child = { ...ended, parent: 'p_b' }
  const parentOf = (record: typeof ended) => endDuties(live.record, record).parent
  expect(parentOf(child)).toBeNull()
  expect(parentOf({ ...child, awaitedBy: ['p_c'] })).toBeNull()
  expect(parentOf({ ...child, awaitedBy: ['p_b'] })).toBe('p_b')
  expect(parentOf({ ...child, owner: { toolCall: 'call' } })).toBe('p_b')
  expect(parentOf({ ...ended, owner: { toolCall: 'call' } })).toBeNull()
  expect(parentOf({ ...child, awaitedBy: ['p_b'], spec: { notify: 'complete' } })).toBeNull()
})
