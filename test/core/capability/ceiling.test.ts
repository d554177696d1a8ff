import { expect, test } from 'vitest'
import { ceilingsOf, ceilingsOver, parseCeiling } from '../../../src/core/capability/ceiling.ts'
import { allow } from './rules.ts'

const launch = { givenTo: 'p_root', rules: [allow('tool:a')] }

test('a restart keeps the ceilings over it, also without the parent that they came from', () => {
  const own = { givenTo: 'p_old', rules: [allow('tool:b')] }
  const restarted = { pid: 'p_old', ceilings: [launch, own] }
  const moved = { ...own, givenTo: 'p_new' }
  expect(ceilingsOf({ pid: 'p_new', parent: [], restarted, own: null })).toEqual([launch, moved])
  expect(ceilingsOf({ pid: 'p_new', parent: [launch], restarted, own: null })).toEqual([launch, moved])
})

test('the own ceiling of a process does not bind its own start', () => {
  const ceilings = ceilingsOf({ pid: 'p_a', parent: [launch], restarted: null, own: [] })
  expect(ceilings).toHaveLength(2)
  expect(ceilingsOver('p_a', ceilings)).toEqual([launch])
})

test.each([
  ['an unknown field', [{ effect: 'allow', resource: 'tool:a', wide: true }]],
  ['uses', [{ effect: 'allow', resource: 'tool:a', uses: 3 }]],
  ['delegable', [{ effect: 'allow', resource: 'tool:a', delegable: { depth: 1 } }]],
  ['a bare star', [{ effect: 'allow', resource: '*' }]],
  [
    'an id that is there twice',
    [
      { id: 'x', effect: 'allow', resource: 'tool:a' },
      { id: 'x', effect: 'allow', resource: 'tool:b' },
    ],
  ],
])('a ceiling with %s is refused', (_, rules) => {
  expect(parseCeiling(rules)).toMatchObject({ code: 'invalid_rule' })
})
