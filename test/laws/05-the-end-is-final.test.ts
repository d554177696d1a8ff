import { expect, test } from 'vitest'
import { hasEnded } from '../../src/core/process/record.ts'
import { everyStep } from './arbitrary.ts'

test('no intent changes an outcome', () => {
  let reached = 0
  everyStep(({ was, decision, next }) => {
    if (!hasEnded(was.row.record)) return
    reached += 1
    expect(next).toBe(was)
    expect(decision?.type).not.toBe('append')
  })
  expect(reached).toBeGreaterThan(1_000)
})

test('a log has at most one end, and it is the last event', () => {
  everyStep(({ next: { row, events } }) => {
    const ends = events.filter(({ type }) => type === 'ended' || type === 'shipped')
    expect(ends).toEqual(hasEnded(row.record) ? [events.at(-1)] : [])
  })
})
