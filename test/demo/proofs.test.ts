import type { ProcessRecord, StoredEvent } from 'reeve'
import { expect, test } from 'vitest'
import { typedEvent } from '../../src/core/process/event.ts'
import type { Entry } from '../../src/demo/ledger.ts'
import { type Evidence, prove } from '../../src/demo/proofs.ts'

const once: readonly Entry[] = [
  { what: 'acknowledged', pid: 'p_1' },
  { what: 'begun', pid: 'p_1' },
  { what: 'done', pid: 'p_1' },
]
const completed = { status: 'completed' } as ProcessRecord['outcome']
const bound = record({ status: 'completed', outcome: completed })
const log = [event(1, 'started'), event(2, 'ended')]
const sound: Evidence = { ledger: once, log, heard: log, records: [bound] }

test('sound evidence fails no proof but the fold, which these bare events cannot give', () => {
  expect(failing(sound)).toEqual(['Every record is the fold of its events'])
})

test('a bound process that began twice fails a proof', () => {
  const ledger = [...once, { what: 'begun', pid: 'p_1' } as const]
  expect(failing({ ...sound, ledger })).toContain('No bound process ran twice')
})

test('an acknowledged process that is missing fails a proof', () => {
  const ledger = [...once, { what: 'acknowledged', pid: 'p_2' } as const]
  expect(failing({ ...sound, ledger })).toContain('Nothing was lost')
})

test('a second end fails a proof, and so does none', () => {
  const twice = [...log, event(3, 'ended')]
  expect(failing({ ...sound, log: twice, heard: twice })).toContain('Each of them has exactly one outcome.')
  const never = [event(1, 'started')]
  expect(failing({ ...sound, log: never, heard: never })).toContain('Each of them has exactly one outcome.')
})

test('a process that says completed and never finished fails a proof', () => {
  expect(failing({ ...sound, ledger: once.slice(0, 2) })).toContain('Every outcome is true')
})

test('an attempt that the record does not count fails a proof', () => {
  const records = [record({ ...bound, recovery: 'rerunnable', attempts: 2 })]
  expect(failing({ ...sound, records })).toContain('Of 1 rerunnable ones 0 began twice, and the log says so.')
})

test('an execution that the log does not know fails a proof', () => {
  const lacking = [event(1, 'ended')]
  expect(failing({ ...sound, log: lacking, heard: lacking })).toContain('Every execution is on record')
})

test('a signal that was not taken fails a proof', () => {
  const records = [record({ ...bound, signals: { go: { received: 1, taken: 0, pending: [1] } } })]
  expect(failing({ ...sound, records })).toContain('Every signal was taken once')
})

test('a follower that missed an event fails a proof', () => {
  expect(failing({ ...sound, heard: log.slice(1) })).toContain(
    'A follower heard all 2 events, each once and in order.',
  )
})

function failing(evidence: Evidence): string[] {
  const failed = prove(evidence).filter(({ holds }) => !holds)
  return failed.map(({ text }) => text.split(':')[0] ?? text)
}

function record(fields: Partial<ProcessRecord>): ProcessRecord {
  return { pid: 'p_1', recovery: 'bound', attempts: 1, signals: {}, ...fields } as ProcessRecord
}

function event(position: number, type: string): StoredEvent {
  return typedEvent({
    pid: 'p_1',
    seq: position,
    position,
    type,
    at: 0,
    actor: 'host',
    replayKey: null,
    payload: { eventTypes: {} },
  })
}
