import { seededRandom, simulatedClock } from 'reeve/testing'
import { expect, test } from 'vitest'

test('time stands still until the test advances it, and tasks run in the order of their time', () => {
  const clock = simulatedClock(1_000)
  const done: string[] = []
  const note = (name: string) => () => done.push(`${name} at ${clock.now()}`)
  clock.after(20, note('second'))
  clock.after(10, note('first'))
  clock.after(20, note('third'))
  const cancel = clock.after(15, note('never'))
  expect(clock.now()).toBe(1_000)
  cancel()
  clock.advance(9)
  expect(done).toEqual([])
  clock.advance(100)
  expect(done).toEqual(['first at 1010', 'second at 1020', 'third at 1020'])
  expect(clock.now()).toBe(1_109)
})

test('a task may set another, which becomes due in the same advance', () => {
  const clock = simulatedClock(0)
  const done: number[] = []
  const again = () => {
    done.push(clock.now())
    if (done.length < 4) clock.after(10, again)
  }
  clock.after(10, again)
  clock.advance(35)
  expect(done).toEqual([10, 20, 30])
  clock.advance(5)
  expect(done).toEqual([10, 20, 30, 40])
})

test('a clock that jumps moves no timer', () => {
  const clock = simulatedClock(1_000)
  const done: number[] = []
  clock.after(10, () => done.push(clock.now()))
  clock.jump(-500)
  expect(clock.now()).toBe(500)
  clock.jump(5_000)
  expect(done).toEqual([])
  clock.advance(10)
  expect(done).toEqual([5_510])
})

test('the same seed gives the same numbers, all from 0 to 1', () => {
  const take = (seed: number) => Array.from({ length: 1_000 }, seededRandom(seed))
  expect(take(7)).toEqual(take(7))
  expect(take(7)).not.toEqual(take(8))
  expect(take(7).every((number) => number >= 0 && number < 1)).toBe(true)
  expect(Math.max(...take(7)) - Math.min(...take(7))).toBeGreaterThan(0.9)
})
