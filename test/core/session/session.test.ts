import { expect, test } from 'vitest'
import { decideOpenSession } from '../../../src/core/session/session.ts'

test.for([
  [{ hadAllowance: true, mayGiveAllowance: false }, 'refuse'],
  [{ hadAllowance: true, mayGiveAllowance: true }, 'put'],
  [{ hadAllowance: false, mayGiveAllowance: false }, 'put'],
] as const)('opening a deleted session with the facts %j is decided as %s', ([deleted, type]) => {
  const decision = decideOpenSession(null, deleted, 's1', null, 7)
  expect(decision.type).toBe(type)
  if (decision.type === 'refuse') expect(decision.refusal.code).toBe('denied')
})
