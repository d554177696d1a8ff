import { expect, test } from 'vitest'
import { refold } from '../../src/core/process/fold.ts'
import { hasEnded } from '../../src/core/process/record.ts'
import { everyStep } from './arbitrary.ts'

test('decide answers every intent in every state, and a refusal says what happened and what to do', () => {
  const codes = new Set<string>()
  everyStep(({ decision }) => {
    if (decision?.type !== 'refuse') return
    codes.add(decision.refusal.code)
    expect(decision.refusal.message).toMatch(/./)
    expect(decision.refusal.remedy).toMatch(/./)
    // Enough that each code comes up, whichever intents are added.
  }, 5_000)
  expect([...codes].sort()).toEqual([
    'already_ended',
    'busy',
    'conflict',
    'not_claimable',
    'not_external',
    'not_holding',
    'not_paused',
    'not_waiting',
    'payload_mismatch',
    'payload_too_large',
    'replay_conflict',
    'replay_key_required',
    'signals_full',
    'stale_fence',
    'stopping',
    'undeclared_event',
  ])
})

test('the record is the fold of its events, field for field, after every step', () => {
  everyStep(({ next: { row, events } }) => {
    // As from a disk: the record must contain only values that JSON keeps.
    expect(refold(JSON.parse(JSON.stringify(events)))).toEqual(JSON.parse(JSON.stringify(row.record)))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  }, 500)
})

test('the fields of a record agree with its status, after every step', () => {
  everyStep(({ next: { row, events } }) => {
    const { record, holder } = row
    const ended = ['completed', 'failed', 'cancelled', 'abandoned'].includes(record.status)
    expect(hasEnded(record)).toBe(ended)
    expect(record.pausedFrom !== null).toBe(record.status === 'paused')
    if (record.status === 'waiting') expect(record.wait).not.toBeNull()
    if (record.wait !== null) expect(['waiting', 'paused', 'stopping']).toContain(record.status)
    if (record.status === 'stopping') expect(record.stopRequest).not.toBeNull()
    if (ended) expect([holder, record.wait, record.retryAt]).toEqual([null, null, null])
    // A released or parked attempt does not count.
    const count = (type: string) => events.filter((event) => event.type === type).length
    expect(record.attempts).toBe(count('started') - count('released') - count('parked'))
    for (const queue of Object.values(record.signals))
      expect(queue.received).toBe(queue.taken + queue.pending.length)
  })
})

test('time never runs backwards in a log, however the clock jumps', () => {
  everyStep(({ was, next }) => {
    expect(next.row.record.updatedAt).toBeGreaterThanOrEqual(was.row.record.updatedAt)
  })
})
