import { expect, test } from 'vitest'
import { Guard } from '../../src/server/guard.ts'
import { type StoredToken, tokenHash } from '../../src/server/tokens.ts'

const tcp = { by: 'tcp', hosts: new Set(['h']) } as const
const user = { person: 'human:olive', approver: true } as const

test('the person is the user of the socket who says so, or the one that the token names', () => {
  expect(callerOf('socket', {})).toMatchObject({ person: null, approver: false })
  expect(callerOf('socket', { 'reeve-person': '1' })).toMatchObject(user)
  expect(callerOf('socket', { 'reeve-person': 'human:root' })).toMatchObject({ person: null })
  expect(callerOf('tcp', bearer('nobody'))).toMatchObject({ person: null, approver: false })
  expect(callerOf('tcp', bearer('ada'))).toMatchObject({ role: 'operate', person: 'human:ada' })
  expect(callerOf('tcp', bearer('agent'))).toMatchObject({
    actor: 'session:s1',
    person: 'human:ada',
    approver: true,
  })
})

test('a client that sends a token is not a person, even with the header of the socket', () => {
  for (const door of ['socket', 'tcp'] as const)
    expect(callerOf(door, { 'reeve-person': '1', ...bearer('nobody') })).toMatchObject({ person: null })
})

test('a client cannot name a person to act as', () => {
  for (const headers of [{ 'reeve-person': '1' }, bearer('ada'), bearer('agent')])
    expect(() => callerOf('socket', { ...headers, 'reeve-as': 'human:ada' })).toThrow()
})

const tokens: readonly StoredToken[] = [
  { id: 't1', hash: tokenHash('nobody'), role: 'admin', createdAt: 0 },
  { id: 't2', hash: tokenHash('ada'), role: 'operate', person: 'ada', createdAt: 0 },
  {
    ...{ id: 't3', hash: tokenHash('agent'), role: 'agent', createdAt: 0 },
    ...{ session: 's1', person: 'ada', approver: true },
  },
]

function bearer(text: string): Record<string, string> {
  return { authorization: `Bearer ${text}` }
}

function callerOf(door: 'socket' | 'tcp', headers: Readonly<Record<string, string>>) {
  const guard = new Guard({ all: () => tokens }, { requestsPerToken: 10, user })
  return guard.callerOf({
    door: door === 'tcp' ? tcp : { by: 'socket' },
    address: '',
    header: (name) => headers[name],
  })
}
