import { expect, test } from 'vitest'
import { zonedTime } from '../../../src/cli/print/times.ts'

test.each([
  ['Europe/Berlin', '2026-11-20T01:00:00Z', '2026-11-20 02:00:00 +01:00'],
  ['Europe/Berlin', '2026-07-20T00:00:00Z', '2026-07-20 02:00:00 +02:00'],
  ['Asia/Kolkata', '2026-11-19T20:30:00Z', '2026-11-20 02:00:00 +05:30'],
  ['America/New_York', '2026-11-20T05:00:09Z', '2026-11-20 00:00:09 -05:00'],
  ['UTC', '2026-11-20T02:00:00Z', '2026-11-20 02:00:00 +00:00'],
  ['Atlantis/Capital', '2026-11-20T02:00:00Z', '2026-11-20 02:00:00Z'],
])('a time in %s has the offset of that day', (zone, at, text) => {
  expect(zonedTime(Date.parse(at), zone)).toBe(text)
})

test('the hour that a clock shows twice is told apart by its offset', () => {
  const shown = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((at) =>
    zonedTime(Date.parse(at), 'Europe/Berlin'),
  )
  expect(shown).toEqual(['2026-10-25 02:30:00 +02:00', '2026-10-25 02:30:00 +01:00'])
})
