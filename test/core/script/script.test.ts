import { expect, test } from 'vitest'
import { humanMs } from '../../../src/core/script/human-time.ts'
import { divergence } from '../../../src/core/script/script.ts'
import { registered } from '../registered.ts'

test('the time of people is that of pending approvals and questions, each moment once', () => {
  const gate = { approval: 'a', actionHash: '', state: 'approved', expiresAt: null } as const
  const asked = (createdAt: number, startedAt: number | null) => ({
    ...registered('p_000000000001').record,
    createdAt,
    gate,
    firstStarted: startedAt === null ? null : { at: startedAt, holder: 'h' },
  })
  const question = {
    ...registered('p_000000000001').record,
    createdAt: 50,
    spec: { tool: 'agent.ask_human' },
  }
  expect(humanMs([asked(0, 10), asked(5, 20), asked(90, null), question], 100)).toBe(20 + 50)
  expect(humanMs([{ ...registered('p_000000000001').record, createdAt: 0 }], 100)).toBe(0)
})

test('a call of another tool, or with another input, is another way', () => {
  const before = { spec: { tool: 'agent.read_file', input: { path: 'a' } } }
  expect(divergence(3, before, { tool: 'read_file', input: { path: 'a' } })).toBeUndefined()
  expect(divergence(3, before, { tool: 'read_file', input: { path: 'b' } })).toBe(
    'It took another way than before: call 3 was read_file {"path":"a"}, and is read_file {"path":"b"} now.',
  )
})
