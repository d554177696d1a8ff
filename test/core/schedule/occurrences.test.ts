import { array, assert as check, constantFrom, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { cronTimes } from '../../../src/calendar/cron-times.ts'
import { decideDue, decideEnd, firstTime } from '../../../src/core/schedule/occurrences.ts'
import { NO_COUNTS, OVERLAPS, type Schedule } from '../../../src/core/schedule/schedule.ts'
import { type TimesDefinition, timetableOf } from '../../../src/core/schedule/timetable.ts'

const HOUR = 3_600_000
const NEW_YORK = { type: 'cron', zone: 'America/New_York' } as const

function scheduleOf(times: TimesDefinition, more: Partial<Schedule> = {}): Schedule {
  return {
    ...{ id: 'nightly', key: 'k', revision: 1, session: 'schedule:nightly', createdBy: 'host', ceilings: [] },
    ...{ createdAt: 0, editedAt: 0, paused: null, next: null, running: [], decidedThrough: 0, gap: null },
    ...{ backfill: null, last: null, counts: NO_COUNTS, jitterMs: 0, overlap: 'skip', catchUpMs: HOUR },
    ...{ pauseOnFailure: false, request: { kind: 'tool', spec: { tool: 'work' } } },
    times,
    ...more,
  }
}

const timesOf = (times: TimesDefinition) => timetableOf(times, 0, cronTimes)

/** The scheduled times that run if each occurrence starts at its time and takes no time. */
function runs(times: TimesDefinition, from: string, until: string): string[] {
  const timetable = timesOf(times)
  const end = Date.parse(until)
  let schedule = scheduleOf(times)
  let time = firstTime({ schedule, timetable, now: Date.parse(from) })
  const ran: string[] = []
  while (time !== null && time <= end) {
    const next = { pid: `p_${time}`, at: time, plannedAt: time - 1 }
    const due = decideDue({ schedule: { ...schedule, next }, timetable, now: time, dueAt: next.at }, false)
    expect(due.type).toBe('start')
    ran.push(new Date(time).toISOString())
    const ended = decideEnd({ schedule: due.schedule, timetable, now: time }, next.pid, 'completed')
    schedule = ended.schedule
    time = ended.planned
  }
  return ran
}

test('a time that the spring change leaves out runs once, at the next time that exists', () => {
  expect(runs({ ...NEW_YORK, cron: '30 2 * * *' }, '2026-03-07T12:00:00Z', '2026-03-10T12:00:00Z')).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-09T06:30:00.000Z',
    '2026-03-10T06:30:00.000Z',
  ])
})

test('a time that the autumn change repeats runs once', () => {
  expect(runs({ ...NEW_YORK, cron: '30 1 * * *' }, '2026-10-31T12:00:00Z', '2026-11-02T12:00:00Z')).toEqual([
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:30:00.000Z',
  ])
})

test('an expression of minutes runs through both hours of the autumn change', () => {
  expect(runs({ ...NEW_YORK, cron: '*/30 * * * *' }, '2026-11-01T04:45:00Z', '2026-11-01T07:00:00Z')).toEqual(
    [
      '2026-11-01T05:00:00.000Z',
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:00:00.000Z',
      '2026-11-01T06:30:00.000Z',
      '2026-11-01T07:00:00.000Z',
    ],
  )
})

test('start and end limit the times, and one time is one time', () => {
  const bounded = { type: 'every', everyMs: HOUR, start: 10 * HOUR, end: 12 * HOUR } as const
  expect(timesOf(bounded).recent(0, 100 * HOUR, 10)).toEqual([10 * HOUR, 11 * HOUR, 12 * HOUR])
  expect(timesOf(bounded).next(12 * HOUR)).toBeNull()
  expect(timesOf({ type: 'at', at: 5 }).next(4)).toBe(5)
  expect(timesOf({ type: 'at', at: 5 }).next(5)).toBeNull()
})

test('recent times are the last ones of next, for every kind of times', () => {
  const kinds = [
    { type: 'every', everyMs: 7 * 60_000, start: 3 * HOUR },
    { ...NEW_YORK, cron: '*/20 * * * *' },
    { ...NEW_YORK, cron: '15 */6 * * *' },
    { type: 'at', at: 50 * HOUR },
  ] as const
  void check(
    property(
      constantFrom<TimesDefinition>(...kinds),
      integer({ min: 0, max: 60 * 60 }),
      integer({ min: 1, max: 48 * 60 }),
      integer({ min: 1, max: 20 }),
      (times, fromMinute, minutes, limit) => {
        const timetable = timesOf(times)
        const [after, until] = [fromMinute * 60_000, (fromMinute + minutes) * 60_000]
        const all: number[] = []
        for (let time = timetable.next(after); time !== null && time <= until; time = timetable.next(time))
          all.push(time)
        expect(timetable.recent(after, until, limit)).toEqual(all.slice(-limit))
      },
    ),
    { numRuns: 200 },
  )
})

test('no time runs twice, none runs before it comes, and under one serial overlap none runs beside another', () => {
  const lives = record({
    overlap: constantFrom(...OVERLAPS),
    catchUpMinutes: constantFrom(0, 10, 60, 600),
    steps: array(
      record({
        waitMinutes: integer({ min: 0, max: 300 }),
        act: constantFrom('claim', 'end', 'back' as const),
      }),
      { maxLength: 60 },
    ),
  })
  void check(
    property(lives, ({ overlap, catchUpMinutes, steps }) => {
      const times = { type: 'every', everyMs: HOUR } as const
      const timetable = timesOf(times)
      let now = 10 * HOUR
      let schedule = scheduleOf(times, { overlap, catchUpMs: catchUpMinutes * 60_000 })
      const ran = new Set<number>()
      const plan = (time: number | null) => {
        if (time === null) return
        expect(schedule.next).toBeNull()
        schedule = { ...schedule, next: { pid: `p_${time}`, at: time, plannedAt: now } }
      }
      plan(firstTime({ schedule, timetable, now }))
      for (const { waitMinutes, act } of steps) {
        // A clock that is set back by up to five hours must not repeat a time.
        now += (act === 'back' ? -1 : 1) * waitMinutes * 60_000
        const { next, running } = schedule
        if (act === 'claim' && next !== null && next.at <= now) {
          const due = decideDue({ schedule, timetable, now, dueAt: schedule.next?.at ?? now }, false)
          schedule = due.schedule
          if (due.type === 'start') {
            expect(ran).not.toContain(next.at)
            ran.add(next.at)
            if (overlap === 'skip' || overlap === 'queue' || overlap === 'bufferOne')
              expect(running).toEqual([])
          }
          plan(due.planned)
        }
        if (act === 'end' && running[0] !== undefined) {
          const ended = decideEnd({ schedule, timetable, now }, running[0].pid, 'completed')
          schedule = ended.schedule
          plan(ended.planned)
        }
        // It never wedges: either the next occurrence is planned, or an end will plan it.
        expect(schedule.next !== null || schedule.running.length > 0).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})
