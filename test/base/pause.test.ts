import { expect, test } from 'vitest'
import { pause } from '../../src/base/pause.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'

test('a pause lasts until its time is over', async () => {
  const clock = simulatedClock()
  const paused = pause(clock, 100)
  expect(await isOver(paused)).toBe(false)
  clock.advance(100)
  await paused
})

test('an abort ends a pause at once and leaves no timer', async () => {
  const timers = new Set<() => void>()
  const timer = {
    after: (_ms: number, task: () => void) => {
      timers.add(task)
      return () => timers.delete(task)
    },
  }
  const stop = new AbortController()
  const paused = pause(timer, 100, stop.signal)
  expect(timers.size).toBe(1)
  stop.abort()
  await paused
  expect(timers.size).toBe(0)
  await pause(timer, 100, stop.signal)
  expect(timers.size).toBe(0)
})

function isOver(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<false>((no) => setImmediate(no, false))])
}
