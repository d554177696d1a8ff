import { expect, test } from 'vitest'
import { thinned } from '../../../src/core/audit/anchors.ts'

const anchors = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ position: index + 1, hash: `h${index + 1}` }))

test('few anchors are all kept', () => {
  for (const count of [0, 1, 1_000, 2_000]) expect(thinned(anchors(count))).toEqual(anchors(count))
})

test('of many anchors the newest are kept, and some of the older ones, from the first on', () => {
  const kept = thinned(anchors(10_000)).map(({ position }) => position)
  expect(kept.length).toBeLessThanOrEqual(2_000)
  expect(kept.slice(-1_000)).toEqual(
    anchors(10_000)
      .slice(-1_000)
      .map(({ position }) => position),
  )
  expect(kept.slice(0, 3)).toEqual([1, 10, 19])
  expect(kept).toEqual(kept.toSorted((a, b) => a - b))
})
