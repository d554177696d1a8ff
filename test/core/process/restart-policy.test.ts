import { expect, test } from 'vitest'
import { restartDelay } from '../../../src/core/process/restart-policy.ts'

test('a process that ended by itself is started again by its policy, and a stopped one never', () => {
  const ends = ['completed', 'failed', 'abandoned', 'cancelled'] as const
  const again = (on: 'never' | 'failure' | 'always') =>
    ends.filter((end) => restartDelay({ on }, end, 0) !== null)
  expect(again('never')).toEqual([])
  expect(again('failure')).toEqual(['failed', 'abandoned'])
  expect(again('always')).toEqual(['completed', 'failed', 'abandoned'])
})

test('the delay doubles up to its maximum, and the number of restarts is limited', () => {
  const delays = (policy: object) =>
    Array.from({ length: 5 }, (_, before) => restartDelay({ on: 'failure', ...policy }, 'failed', before))
  expect(delays({})).toEqual([1_000, 2_000, 4_000, 8_000, 16_000])
  expect(delays({ delayMs: 10, maxDelayMs: 25, limit: 4 })).toEqual([10, 20, 25, 25, null])
  expect(restartDelay({ on: 'always', limit: 1_000 }, 'failed', 999)).toBe(60_000)
  expect(restartDelay({ on: 'always' }, 'failed', 10)).toBeNull()
})
