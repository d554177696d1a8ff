import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/base/bounded-map.ts'

test('one entry too many evicts the oldest, and an entry that is set again is the newest', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('a key may be undefined and is evicted like any other', () => {
  const map = new BoundedMap<string | undefined, number>(1)
  map.set(undefined, 1).set('a', 2)
  expect([...map.keys()]).toEqual(['a'])
})
