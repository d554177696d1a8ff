import { expect, test } from 'vitest'
import { decideOpenSession, MAX_SESSION_DEPTH, type Session } from '../../../src/core/session/session.ts'

test.for([
  [{ hadAllowance: true, mayGiveAllowance: false }, 'refuse'],
  [{ hadAllowance: true, mayGiveAllowance: true }, 'put'],
  [{ hadAllowance: false, mayGiveAllowance: false }, 'put'],
] as const)('opening a deleted session with the facts %j is decided as %s', ([deleted, type]) => {
  const decision = decideOpenSession({ session: null, deleted, parent: null }, { id: 's1', label: null }, 7)
  expect(decision.type).toBe(type)
  if (decision.type === 'refuse') expect(decision.refusal.code).toBe('denied')
})

test('a new session below another one has its chain, and its own id is never in it', () => {
  const facts = { session: null, deleted: { hadAllowance: false, mayGiveAllowance: false } }
  const open = (id: string, parent: Session | null) =>
    decideOpenSession({ ...facts, parent }, { id, label: null, parentSession: parent?.id ?? 'none' }, 7)
  const top: Session = {
    id: 'top',
    label: null,
    openedAt: 1,
    touchedAt: 1,
    endedAt: null,
    deleted: false,
    carry: false,
  }
  const mid = open('mid', top)
  expect(mid).toMatchObject({ type: 'put', value: { sessionsAbove: ['top'] } })
  const low = mid.type === 'put' ? open('low', mid.value) : mid
  expect(low).toMatchObject({ type: 'put', value: { sessionsAbove: ['mid', 'top'] } })
  expect(open('x', null)).toMatchObject({ refusal: { code: 'session_unknown' } })
  expect(open('x', { ...top, endedAt: 5 })).toMatchObject({ refusal: { code: 'session_ended' } })
  const deep = { ...top, sessionsAbove: Array.from({ length: MAX_SESSION_DEPTH }, (_, index) => `s${index}`) }
  expect(open('x', deep)).toMatchObject({ refusal: { code: 'limit_exceeded' } })
})
