import { expect, test } from 'vitest'
import {
  FLOOD_LIMITS,
  heldDueAt,
  isReleaseDue,
  matchAtSource,
  matchOverAll,
  NO_OVERFLOW,
  type Overflow,
  QUIET_SOURCE,
} from '../../../src/core/inbox/flood.ts'
import { simulatedClock } from '../../../src/testing/simulated-clock.ts'

/** One watch of one process with a clock, to which matches are fed. */
function source(limits = FLOOD_LIMITS) {
  const clock = simulatedClock()
  let state = QUIET_SOURCE
  const match = (lines = 1) => {
    const { source: next, verdict, heldBack } = matchAtSource(state, lines, clock.now(), limits)
    state = next
    return [verdict, heldBack]
  }
  return { clock, match }
}

test('one source reports one match in 15 seconds, and the next says how many were held back', () => {
  const { clock, match } = source()
  expect(match()).toEqual(['tell', 0])
  expect(match()).toEqual(['hold', 1])
  expect(match(3)).toEqual(['hold', 4])
  clock.advance(14_999)
  expect(match()).toEqual(['hold', 5])
  clock.advance(1)
  expect(match()).toEqual(['tell', 5])
  clock.advance(15_000)
  expect(match()).toEqual(['tell', 0])
})

test('the third window in a row with held-back matches disables the watch for good', () => {
  const { clock, match } = source()
  for (const held of [1, 1]) {
    expect(match()[0]).toBe('tell')
    expect(match()).toEqual(['hold', held])
    clock.advance(15_000)
  }
  expect(match()).toEqual(['tell', 1])
  expect(match()).toEqual(['disable', 1])
  clock.advance(1_000_000)
  expect(match()[0]).toBe('hold')
})

test('a window without held-back matches clears the strikes', () => {
  const { clock, match } = source()
  for (let round = 0; round < 10; round++) {
    for (let window = 0; window < 2; window++) {
      expect(match()[0]).toBe('tell')
      expect(match()[0]).toBe('hold')
      clock.advance(15_000)
    }
    expect(match()[0]).toBe('tell')
    clock.advance(15_000)
  }
})

test('over all sources 15 matches are reported in 10 seconds, then one notice says so, and the rest is counted for 30 seconds', () => {
  const clock = simulatedClock()
  let overflow: Overflow = NO_OVERFLOW
  const match = (seq: number) => {
    const over = matchOverAll(overflow, { pid: 'p_a', seq }, clock.now(), FLOOD_LIMITS)
    overflow = over.overflow
    return over.told
  }
  const told = Array.from({ length: 18 }, (_, seq) => match(seq))
  expect(told).toEqual([...Array.from({ length: 15 }, () => 'match'), 'tripped', 'held', 'held'])
  expect(overflow.tripped).toMatchObject({ pid: 'p_a', seq: 15, held: 3 })
  clock.advance(29_999)
  expect(isReleaseDue(overflow, clock.now())).toBe(false)
  expect(match(19)).toBe('held')
  clock.advance(1)
  expect(isReleaseDue(overflow, clock.now())).toBe(true)
  expect(overflow.tripped?.held).toBe(4)
})

test('matches that come slowly enough never trip it', () => {
  const clock = simulatedClock()
  let overflow: Overflow = NO_OVERFLOW
  for (let seq = 0; seq < 500; seq++) {
    const over = matchOverAll(overflow, { pid: 'p_a', seq }, clock.now(), FLOOD_LIMITS)
    expect(over.told).toBe('match')
    overflow = over.overflow
    expect(overflow.recent.length).toBeLessThanOrEqual(15)
    clock.advance(667)
  }
})

test('after the clock is set back, a match is held for one window at most', () => {
  const told = matchAtSource(QUIET_SOURCE, 1, 1_000_000, FLOOD_LIMITS)
  const held = matchAtSource(told.source, 1, 2_000, FLOOD_LIMITS)
  expect([held.verdict, heldDueAt(held.source, FLOOD_LIMITS)]).toEqual(['hold', 17_000])
  expect(matchAtSource(held.source, 1, 17_000, FLOOD_LIMITS)).toMatchObject({ verdict: 'tell', heldBack: 1 })
})

test('after the clock is set back, matches of the future do not count, and the silence is not prolonged', () => {
  const limits = { ...FLOOD_LIMITS, burst: 1 }
  const first = matchOverAll(NO_OVERFLOW, { pid: 'p_a', seq: 1 }, 1_000_000, limits)
  expect(matchOverAll(first.overflow, { pid: 'p_a', seq: 2 }, 2_000, limits).told).toBe('match')
  const { overflow, told } = matchOverAll(first.overflow, { pid: 'p_a', seq: 2 }, 1_000_001, limits)
  expect(told).toBe('tripped')
  // By less than a silence: two hosts may differ by as much.
  expect(isReleaseDue(overflow, 1_000_000 - 29_000)).toBe(false)
  expect(isReleaseDue(overflow, 2_000)).toBe(true)
})

test('every limit can be configured', () => {
  const { clock, match } = source({ everyMs: 10, strikes: 1, burst: 1, burstMs: 5, silenceMs: 7 })
  expect(match()[0]).toBe('tell')
  clock.advance(10)
  expect(match()[0]).toBe('tell')
  expect(match()[0]).toBe('disable')
  const limits = { everyMs: 10, strikes: 1, burst: 1, burstMs: 5, silenceMs: 7 }
  const first = matchOverAll(NO_OVERFLOW, { pid: 'p_a', seq: 1 }, 100, limits)
  const second = matchOverAll(first.overflow, { pid: 'p_a', seq: 2 }, 101, limits)
  expect(second.overflow.tripped).toEqual({ pid: 'p_a', seq: 2, at: 101, until: 108, held: 1 })
})
