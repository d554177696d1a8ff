import { expect, test } from 'vitest'
import { ExponentialBackoff } from '../../src/base/exponential-backoff.ts'

test('each delay is twice the one before, up to the limit, and a reset begins again', () => {
  const backoff = new ExponentialBackoff(100, 500)
  expect([1, 2, 3, 4, 5].map(() => backoff.nextMs())).toEqual([100, 200, 400, 500, 500])
  backoff.reset()
  expect([backoff.nextMs(), backoff.nextMs()]).toEqual([100, 200])
})
