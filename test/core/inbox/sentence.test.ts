import { expect, test } from 'vitest'
import type { NoticeKind } from '../../../src/core/inbox/notice.ts'
import { sentenceOf } from '../../../src/core/inbox/sentence.ts'
import type { Json } from '../../../src/core/json/json.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)

function said(kind: NoticeKind, payload: Json, tail: string | null = null): string {
  return sentenceOf({ scope: 'session:s1', pid: 'p_a', seq: 3, kind, at: AT, payload, replyTo: null, tail })
}

const named = { label: 'npm test', name: 'tests' }

test('the sentence of an end stands alone: process, outcome, times, reason and last output', () => {
  const outcome = {
    status: 'failed',
    exitCode: 2,
    signal: null,
    reason: 'timeout',
    source: 'host',
    evidence: null,
  }
  const payload = { ...named, ...outcome, startedAt: AT - 60_000, endedAt: AT }
  expect(said('completion', payload, 'one\ntwo\n')).toBe(
    'npm test (tests, p_a) failed (exit code 2, reason timeout, asked by host); started 2026-01-02T03:03:05Z, ended 2026-01-02T03:04:05Z. The end of its output:\none\ntwo',
  )
  const lost = {
    ...payload,
    status: 'abandoned',
    exitCode: null,
    reason: null,
    source: null,
    startedAt: null,
  }
  expect(said('completion', { ...lost, evidence: 'keeper_lost' })).toBe(
    'npm test (tests, p_a) abandoned (evidence keeper_lost: its end was not seen); never started, ended 2026-01-02T03:04:05Z.',
  )
})

test('the sentence of an approval with changes says what was changed and what runs instead', () => {
  const approved = { ...named, approval: 'a_1', how: 'approved' }
  expect(said('approval', approved)).toBe(
    'A person approved npm test (tests, p_a) at 2026-01-02T03:04:05Z: it begins now.',
  )
  expect(said('approval', { ...approved, runs: 'npm run unit', changed: ['env', 'run'] })).toBe(
    'A person approved npm test (tests, p_a) with changes (env, run) at 2026-01-02T03:04:05Z. This runs instead: npm run unit',
  )
})

test('the sentence of a message names its sender, channel, correlation id and where to reply', () => {
  const message = {
    from: 'process:p_b',
    channel: 'work',
    correlationId: 'c1',
    replyTo: 'session:s1',
    priority: 'normal',
    value: 'hello',
  }
  expect(said('message', message)).toBe(
    'process:p_b sent a message (channel work, correlation id c1, reply to session:s1) at 2026-01-02T03:04:05Z: hello',
  )
  const plain = { ...message, channel: null, correlationId: null, replyTo: null, value: { n: 1 } }
  expect(said('message', { ...named, ...plain, priority: 'interrupt' })).toBe(
    'npm test (tests, p_a) sent an urgent message at 2026-01-02T03:04:05Z: {"n":1}',
  )
})

test('the sentence of an end counts the matches that its watches held back or missed', () => {
  const payload = { ...named, status: 'completed', exitCode: 0, startedAt: AT, endedAt: AT }
  const untold = { heldBack: { E: 2 }, missed: { E: { from: 150, to: 9_000 } } }
  expect(said('completion', { ...payload, ...untold })).toContain(
    '05Z. Since its last match the watch E held back 2 lines. The watch E missed output between byte 150 and byte 9000.',
  )
})

test('the sentence of an end says whether the process is started again, or why not', () => {
  const payload = { ...named, status: 'failed', exitCode: 1, startedAt: AT, endedAt: AT }
  expect(said('completion', { ...payload, restart: { pid: 'p_b' } })).toMatch(/It is started again as p_b\.$/)
  expect(said('completion', { ...payload, restart: { refused: 'Session s1 has ended.' } })).toMatch(
    /05Z\. It is not started again: Session s1 has ended\.$/,
  )
})

test('the sentence of a match has the pattern, the lines, and the held-back and missed counts', () => {
  const match = { watch: 'errors', wanted: 'ERROR', offset: 9, end: 20, lines: ['ERROR a', 'ERROR b'] }
  expect(
    said('watch_match', { ...named, ...match, more: 3, heldBack: 1, missed: { from: 1, to: 5 }, strikes: 0 }),
  ).toBe(
    'npm test (tests, p_a) printed what the watch errors (ERROR) looks for, at 2026-01-02T03:04:05Z. Its output from byte 1 to 5 was dropped before it could be looked at. Besides: 3 more lines of the same moment, 1 line held back since the last match.\nERROR a\nERROR b',
  )
})

test('every kind of notice has a sentence that names the process or the group', () => {
  const seats = [
    { pid: 'p_a', outcome: { status: 'completed', exitCode: 0, reason: null, result: null } },
    { pid: 'p_b', outcome: { status: 'failed', exitCode: 1, reason: null, result: null } },
  ]
  expect(said('group_completion', { group: 'g', seats })).toBe(
    'All 2 of the group g have ended: p_a completed (exit code 0), p_b failed (exit code 1).',
  )
  expect(said('approval', { ...named, wait: 'deploy to production', ordinal: 1, until: AT })).toBe(
    'npm test (tests, p_a) waits since 2026-01-02T03:04:05Z for approval of deploy to production, until 2026-01-02T03:04:05Z. It goes on when that is answered.',
  )
  expect(said('approval', { ...named, approval: 'a_1', until: null })).toBe(
    'A person is asked since 2026-01-02T03:04:05Z whether npm test (tests, p_a) may run (approval a_1). You will be told the answer here.',
  )
  expect(said('approval', { ...named, approval: 'a_1', how: 'approved' })).toBe(
    'A person approved npm test (tests, p_a) at 2026-01-02T03:04:05Z: it begins now.',
  )
  expect(said('limit_warning', { ...named, limit: 'toolCalls', given: 100, spent: 70, carved: 15 })).toBe(
    'npm test (tests, p_a) comes near its limit toolCalls: of 100 it has spent 70, and 15 are with processes it started, at 2026-01-02T03:04:05Z. What goes beyond is refused, or ends it.',
  )
  expect(said('ready', { ...named, ready: true, by: 'port', detail: '80' })).toBe(
    'npm test (tests, p_a) is ready since 2026-01-02T03:04:05Z: port 80 accepts connections.',
  )
  expect(said('ready', { ...named, ready: false, by: 'http', detail: 'http://x', timeoutMs: 500 })).toBe(
    'npm test (tests, p_a) was not ready within 0.5 s, until 2026-01-02T03:04:05Z: http://x answers was waited for. It runs on.',
  )
  expect(said('ready', { ...named, ready: true, by: 'port', detail: '80', own: true })).toMatch(
    /connections\.$/,
  )
  expect(said('ready', { ...named, ready: true, by: 'port', detail: '80', own: false })).toContain(
    'connections. But nothing of its own was seen to listen there',
  )
  const late = { ready: false, by: 'port', detail: '80', timeoutMs: 500, last: 'ECONNREFUSED' }
  expect(said('ready', { ...named, ...late })).toContain(
    'was waited for. The last try: ECONNREFUSED. It runs on.',
  )
  expect(said('watch_disabled', { ...named, watch: 'E', wanted: 'E', heldBack: 7 })).toContain(
    'with 7 lines not told',
  )
  expect(said('overflow_tripped', { ...named })).toContain('held back for a while')
  expect(said('overflow_released', { ...named, held: 3, trippedAt: AT - 30_000 })).toContain('3 matches')
  expect(said('heartbeat', { ...named, newBytes: 1, outputBytes: 9 })).toContain('printed 1 byte since')
  expect(said('wake', { ...named, type: 'done', value: { n: 1 } })).toContain(
    'said done at 2026-01-02T03:04:05Z: {"n":1}',
  )
})
