import { array, assert as check, constantFrom, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { cronTimes } from '../../../src/calendar/cron-times.ts'
import { decideDue, decideEnd, firstTime } from '../../../src/core/schedule/occurrences.ts'
import { NO_COUNTS, OVERLAPS, type Overlap, type Schedule } from '../../../src/core/schedule/schedule.ts'
import { timetableOf } from '../../../src/core/schedule/timetable.ts'

const MINUTE = 60_000
/** Both daylight-saving changes of New York: 02:30 does not exist on the first day, 01:30 exists twice on the second. */
const STARTS = ['2026-03-08T05:10:00Z', '2026-11-01T03:10:00Z', '2026-06-01T00:10:00Z'].map((text) =>
  Date.parse(text),
)

/** A day or two of one schedule, in minutes: when no kernel is there, and how long each of its runs takes. */
interface Life {
  readonly start: number
  readonly cron: string
  readonly overlap: Overlap
  readonly catchUpMs: number
  readonly phases: readonly { readonly awake: number; readonly asleep: number }[]
  readonly runMinutes: readonly number[]
}

interface Run {
  readonly scheduled: number
  readonly started: number
}

test('exactly the times run that the policy says, across sleep, missed times, long runs and daylight saving', () => {
  const lives = record({
    start: constantFrom(...STARTS),
    cron: constantFrom('*/30 * * * *', '30 * * * *', '30 1,2,3 * * *'),
    overlap: constantFrom(...OVERLAPS),
    catchUpMs: constantFrom(0, 10 * MINUTE, 60 * MINUTE, 600 * MINUTE),
    phases: array(record({ awake: integer({ min: 1, max: 400 }), asleep: integer({ min: 0, max: 300 }) }), {
      minLength: 1,
      maxLength: 5,
    }),
    runMinutes: array(integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 6 }),
  })
  void check(
    property(lives, (life) => {
      expect(decidedRuns(life)).toEqual(runsOfPolicy(life))
    }),
    { numRuns: 400 },
  )
})

/** The runs that the rules decide on, with a kernel that looks every minute. */
function decidedRuns(life: Life): Run[] {
  const times = { type: 'cron', cron: life.cron, zone: 'America/New_York' } as const
  const timetable = timetableOf(times, 0, cronTimes)
  const runs: Run[] = []
  const ends = new Map<string, number>()
  let schedule: Schedule = {
    ...{ id: 'nightly', key: 'k', revision: 1, session: 'schedule:nightly', createdBy: 'host', ceilings: [] },
    ...{ createdAt: 0, editedAt: 0, paused: null, next: null, running: [], decidedThrough: 0, gap: null },
    ...{ backfill: null, last: null, counts: NO_COUNTS, jitterMs: 0, pauseOnFailure: false, times },
    ...{ overlap: life.overlap, catchUpMs: life.catchUpMs },
    request: { kind: 'tool', spec: { tool: 'work' } },
  }
  const plan = (at: number | null, now: number) => {
    if (at !== null) schedule = { ...schedule, next: { pid: `p_${at}`, at, plannedAt: now } }
  }
  plan(firstTime({ schedule, timetable, now: life.start }), life.start)
  for (const now of awakeMinutes(life)) {
    for (const { pid } of schedule.running) {
      if (Number(ends.get(pid)) > now) continue
      const ended = decideEnd({ schedule, timetable, now }, pid, 'completed')
      schedule = ended.schedule
      plan(ended.planned, now)
    }
    while (schedule.next !== null && schedule.next.at <= now) {
      const { next } = schedule
      const due = decideDue({ schedule, timetable, now, dueAt: next.at }, false)
      schedule = due.schedule
      if (due.type === 'start') {
        ends.set(next.pid, now + durationOf(life, runs.length))
        runs.push({ scheduled: next.at, started: now })
      }
      plan(due.planned, now)
    }
  }
  expect(schedule.counts.started).toBe(runs.length)
  return runs
}

/** The runs that the documentation promises, from the list of all times. */
function runsOfPolicy(life: Life): Run[] {
  const { overlap, catchUpMs } = life
  const ahead = timesOf(life)
  const isSerial = overlap !== 'allow' && overlap !== 'cancelOther'
  const runs: Run[] = []
  let queue: number[] = []
  let busyUntil: number | null = null
  const start = (scheduled: number, now: number) => {
    if (isSerial) busyUntil = now + durationOf(life, runs.length)
    runs.push({ scheduled, started: now })
  }
  for (const now of awakeMinutes(life)) {
    const passed: number[] = []
    while (ahead[0] !== undefined && ahead[0] <= now) passed.push(ahead.shift() ?? 0)
    if (busyUntil !== null) {
      if (overlap === 'queue') queue.push(...passed)
      if (overlap === 'bufferOne') queue = [...queue, ...passed].slice(-1)
      if (busyUntil > now) continue
      busyUntil = null
      const queued = queue.shift()
      if (queued !== undefined) start(queued, now)
      // A time that passed with the end of a run passed during the run.
      continue
    }
    const [first] = passed
    const last = passed.at(-1)
    if (first === undefined || last === undefined) continue
    if (now - first <= catchUpMs) start(first, now)
    else if (now - last <= catchUpMs) start(last, now)
  }
  return runs
}

function durationOf({ runMinutes }: Life, run: number): number {
  return Number(runMinutes[run % runMinutes.length]) * MINUTE
}

function awakeMinutes({ start, phases }: Life): number[] {
  const minutes: number[] = []
  let now = start
  for (const { awake, asleep } of phases) {
    for (let minute = 1; minute <= awake; minute++) minutes.push(now + minute * MINUTE)
    now += (awake + asleep) * MINUTE
  }
  return minutes
}

/** Every minute at which the clock of New York shows a time of the expression. */
function timesOf(life: Life): number[] {
  const [minutes = '', hours = ''] = life.cron.split(' ')
  const clock = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: 'America/New_York', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' },
  })
  const isWanted = (field: string, value: number) =>
    field === '*' || (field === '*/30' ? value % 30 === 0 : field.split(',').map(Number).includes(value))
  const times: number[] = []
  const until = Math.max(...awakeMinutes(life))
  for (let time = life.start + MINUTE; time <= until; time += MINUTE) {
    const parts = Object.fromEntries(clock.formatToParts(time).map(({ type, value }) => [type, value]))
    if (isWanted(minutes, Number(parts['minute'])) && isWanted(hours, Number(parts['hour']))) times.push(time)
  }
  return times
}
