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

test('the oldest entry is evicted, also after entries were set again, deleted or cleared', () => {
  const map = new BoundedMap<number, number>(8)
  let model: number[] = []
  const remove = (key: number) => {
    map.delete(key)
    model = model.filter((one) => one !== key)
  }
  const set = (key: number) => {
    map.set(key, 0)
    model = [...model.filter((one) => one !== key), key].slice(-8)
  }
  for (let round = 0; round < 5_000; round++) {
    const key = (round * 7_919) % 31
    if (round % 1_000 === 999) {
      map.clear()
      model = []
    } else if (round % 1_700 > 1_500) {
      // Nothing is evicted for a long time.
      set(1)
      remove(2)
    } else if (round % 5 === 0) remove(key)
    else set(key)
    expect([...map.keys()]).toEqual(model)
  }
})
