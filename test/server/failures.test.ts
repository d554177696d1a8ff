import { expect, test } from 'vitest'
import { Failures } from '../../src/server/failures.ts'

test('ten failures within a minute are the limit, for each address separately', () => {
  const failures = new Failures()
  for (let i = 0; i < 10; i++) expect(failures.areTooMany('a', i * 1_000)).toBe(false)
  expect(failures.areTooMany('a', 10_000)).toBe(true)
  expect(failures.areTooMany('b', 10_000)).toBe(false)
})

test('failures are forgotten after a minute', () => {
  const failures = new Failures()
  for (let i = 0; i < 20; i++) failures.areTooMany('a', 0)
  expect(failures.areTooMany('a', 59_999)).toBe(true)
  expect(failures.areTooMany('a', 60_000 + 59_999)).toBe(false)
})

test('the number of remembered addresses is bounded', () => {
  const failures = new Failures()
  for (let i = 0; i < 10; i++) failures.areTooMany('first', 0)
  for (let i = 0; i < 10_000; i++) failures.areTooMany(`10.0.${i}`, 1)
  expect(failures.areTooMany('first', 2)).toBe(false)
})

test('addresses of one IPv6 /64 are counted together, those of another /64 separately', () => {
  const failures = new Failures()
  for (let i = 0; i < 10; i++) expect(failures.areTooMany(`2001:db8:0:1::${i}`, i)).toBe(false)
  expect(failures.areTooMany('2001:db8:0:1:ffff::1', 10)).toBe(true)
  expect(failures.areTooMany('2001:db8:0:2::1', 10)).toBe(false)
})
