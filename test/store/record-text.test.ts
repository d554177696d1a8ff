import { expect, test } from 'vitest'
import { refold } from '../../src/core/process/fold.ts'
import type { Outcome, ProcessRecord, Registration } from '../../src/core/process/record.ts'
import { movingText, recordFrom } from '../../src/store/record-text.ts'
import { AT, registration } from './plans.ts'

const PID = 'p_000000000001'
const OUTCOME: Outcome = {
  status: 'completed',
  exitCode: null,
  signal: null,
  reason: null,
  source: null,
  result: { text: 'x'.repeat(5_000) },
  evidence: null,
  startedAt: null,
  endedAt: AT + 1,
}

/** A record whose second event is the last. */
function ended(type: string, payload: object, more: Partial<Registration> = {}): ProcessRecord {
  const event = { pid: PID, at: AT, actor: 'host', replayKey: null } as const
  const record = refold([
    { ...event, seq: 1, type: 'registered', payload: JSON.parse(JSON.stringify(registration(PID, more))) },
    { ...event, seq: 2, type, payload: JSON.parse(JSON.stringify(payload)) },
  ])
  if (record === null) throw new Error('no record')
  return record
}

const textsOf = (record: ProcessRecord, ending: object, more: Partial<Registration> = {}) => ({
  registered: JSON.stringify(registration(PID, more)),
  moving: movingText(record),
  ending: JSON.stringify(ending),
})

test('an outcome is stored once, in the event of the end', () => {
  const record = ended('ended', OUTCOME)
  const texts = textsOf(record, OUTCOME)
  expect(texts.moving.length).toBeLessThan(200)
  expect(recordFrom(texts, AT)).toEqual(record)
})

test('an outcome that follows from an event of a declared type is stored with the record', () => {
  const more = { eventTypes: { published: { schema: {}, end: 'completed' } } } as const
  const record = ended('published', { version: 7 }, more)
  expect(recordFrom(textsOf(record, { version: 7 }, more), AT)).toEqual(record)
  expect(record.outcome).toMatchObject({ status: 'completed', reason: 'published', result: { version: 7 } })
})

test('an outcome that an earlier version stored with the record is read', () => {
  const record = ended('ended', OUTCOME)
  const moving = JSON.stringify({ ...JSON.parse(movingText(record)), outcome: OUTCOME })
  expect(recordFrom({ ...textsOf(record, OUTCOME), moving }, AT)).toEqual(record)
})

test('a live record has no outcome', () => {
  const record = ended('note', {})
  expect(recordFrom({ ...textsOf(record, {}), ending: null }, AT)).toEqual(record)
  expect(record.outcome).toBeNull()
})
