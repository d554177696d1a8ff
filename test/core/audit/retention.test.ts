import { expect, test } from 'vitest'
import { prunedThrough } from '../../../src/core/audit/retention.ts'

const tail = (position: number, start = 0) => ({
  position,
  hash: 'h',
  start: start === 0 ? null : { position: start, hash: 's', signature: 'x' },
})

test.for([
  [tail(10), {}, null, null],
  [tail(10), { keep: 10 }, null, null],
  [tail(10), { keep: 4 }, null, 6],
  [tail(10), { keep: 0 }, null, 10],
  [tail(10, 6), { keep: 4 }, null, null],
  [tail(10), { before: 5 }, 1, null],
  [tail(10), { before: 5 }, 4, 3],
  [tail(10), { before: 5 }, null, 10],
  [tail(10, 3), { before: 5 }, 4, null],
  [tail(10), { before: 5, keep: 2 }, 4, 8],
  [tail(10), { before: 5, keep: 9 }, 4, 3],
  [tail(0), { before: 5, keep: 0 }, null, null],
  [tail(10), { keep: 4, makesEntry: true }, null, 7],
  [tail(10, 6), { keep: 4, makesEntry: true }, null, null],
  [tail(10), { keep: 0, makesEntry: true }, null, 10],
] as const)(
  'of %j with %j and the first kept entry %j, entries up to %j are removed',
  ([end, limits, first, through]) => {
    expect(prunedThrough(end, limits, first)).toBe(through)
  },
)
