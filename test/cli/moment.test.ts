import { expect, test } from 'vitest'
import { localTime, momentOf } from '../../src/cli/moment.ts'

/** Local time, in the zone of the machine that runs the tests. */
const NOW = new Date(2026, 2, 1, 13, 30).getTime()

const local: readonly (readonly [text: string, at: Date])[] = [
  ['now', new Date(2026, 2, 1, 13, 30)],
  ['5m', new Date(2026, 2, 1, 13, 25)],
  ['1h30m', new Date(2026, 2, 1, 12, 0)],
  ['90', new Date(2026, 2, 1, 13, 28, 30)],
  ['today', new Date(2026, 2, 1)],
  ['yesterday', new Date(2026, 1, 28)],
  ['10:15', new Date(2026, 2, 1, 10, 15)],
  ['10:15:30', new Date(2026, 2, 1, 10, 15, 30)],
  ['2026-02-03', new Date(2026, 1, 3)],
  ['2026-07-03', new Date(2026, 6, 3)],
  ['2026-02-03 04:05', new Date(2026, 1, 3, 4, 5)],
  ['2026-02-03T04:05:06.789', new Date(2026, 1, 3, 4, 5, 6, 789)],
]

for (const [text, at] of local)
  test(`${text} is a local time`, () => {
    expect(new Date(momentOf(text, '--since', NOW))).toEqual(at)
  })

const withZone: readonly (readonly [text: string, at: string])[] = [
  ['2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
  ['2026-02-03 04:05z', '2026-02-03T04:05:00.000Z'],
  ['2026-02-03T04:05:06-05:30', '2026-02-03T09:35:06.000Z'],
  ['2026-02-03T04:05:06+0200', '2026-02-03T02:05:06.000Z'],
  ['@1772368205', '2026-03-01T12:30:05.000Z'],
]

for (const [text, at] of withZone)
  test(`${text} is ${at} in every zone`, () => {
    expect(new Date(momentOf(text, '--since', NOW)).toISOString()).toBe(at)
  })

const wrong = [
  '',
  'soon',
  '25:00',
  '10:60',
  '2026-02-30',
  '2026-13-01',
  '2026-2-3',
  '2026-02-03T',
  '5x',
  '10:15+99:00',
]

for (const text of wrong)
  test(`"${text}" is refused as a time, with examples`, () => {
    expect(() => momentOf(text, '--since', NOW)).toThrow(`--since was given ${text}, and takes a time.`)
  })

test('a time is shown as local, with its zone, and is read again as the same time', () => {
  const shown = localTime(NOW)
  expect(shown).toMatch(/^2026-03-01T13:30:00[+-]\d\d:\d\d$/)
  expect(momentOf(shown, '--since', 0)).toBe(NOW)
})
