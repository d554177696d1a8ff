import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical, sameJson } from '../../../src/core/json/canonical.ts'
import type { Json } from '../../../src/core/json/json.ts'

test.each<[Json, Json]>([
  [
    { a: 1, b: [2, null] },
    { b: [2, null], a: 1 },
  ],
  [0, -0],
  [{}, {}],
  [[], []],
])('%j and %j are the same', (a, b) => {
  expect(sameJson(a, b)).toBe(true)
})

test.each<[Json, Json]>([
  [{ a: null }, {}],
  [{ a: null }, { b: null }],
  [[], {}],
  [[1], [1, 2]],
  [
    [1, 2],
    [2, 1],
  ],
  [1, '1'],
  [null, {}],
  [{ constructor: 1 }, { a: 1 }],
])('%j and %j differ', (a, b) => {
  expect(sameJson(a, b)).toBe(false)
  expect(sameJson(b, a)).toBe(false)
})

test('values are the same if their canonical texts are equal', () => {
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom('a', 'b') })
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [one, other] = [a as Json, b as Json]
      expect(sameJson(one, other)).toBe(canonical(one) === canonical(other))
      expect(sameJson(one, JSON.parse(JSON.stringify(one)) as Json)).toBe(true)
    }),
  )
})
