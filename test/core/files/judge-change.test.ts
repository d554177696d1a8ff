import { expect, test } from 'vitest'
import { judgeChange } from '../../../src/core/files/judge-change.ts'

const by = 'p_000000000ber'

test.each([
  ['a new file', { known: undefined, current: null }, { type: 'allowed' }],
  ['an unchanged file', { known: 'h1', current: 'h1' }, { type: 'allowed' }],
  ['a file that was never read', { known: undefined, current: 'h1' }, { type: 'not_read' }],
  ['a changed file', { known: 'h1', current: 'h2' }, { type: 'changed', by: null }],
  ['a removed file', { known: 'h1', current: null }, { type: 'changed', by: null }],
  [
    'a file that another agent wrote',
    { known: 'h1', current: 'h2', lastChange: { by, hash: 'h2' } },
    { type: 'changed', by },
  ],
  [
    'a file that was changed after the other agent wrote it',
    { known: 'h1', current: 'h3', lastChange: { by, hash: 'h2' } },
    { type: 'changed', by: null },
  ],
])('%s', (_, facts, verdict) => {
  expect(judgeChange(facts)).toEqual(verdict)
})
