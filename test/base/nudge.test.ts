import { expect, test } from 'vitest'
import { Nudge } from '../../src/base/nudge.ts'

test('a nudge wakes the waiter', async () => {
  const nudge = new Nudge()
  const woken = nudge.within(60_000)
  nudge.give()
  await woken
})

test('a nudge that is given while nothing waits wakes the next waiter, and only that one', async () => {
  const nudge = new Nudge()
  nudge.give()
  nudge.give()
  await nudge.within(60_000)
  let isWoken = false
  const second = nudge.within(60_000).then(() => {
    isWoken = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isWoken).toBe(false)
  nudge.give()
  await second
})

test('a waiter without a nudge goes on when its time is over', async () => {
  await new Nudge().within(1)
})
