import { expect, test } from 'vitest'
import { withTimeout } from '../../src/base/with-timeout.ts'

test('a promise that settles in time decides', async () => {
  expect(await withTimeout(Promise.resolve('done'), 60_000, 'late')).toBe('done')
  await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, 'late')).rejects.toThrow('broken')
})

test('a promise that does not settle in time gives way to the fallback', async () => {
  expect(await withTimeout(new Promise<string>(() => {}), 1, 'late')).toBe('late')
})
