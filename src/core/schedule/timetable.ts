import { type Refusal, refusal } from '../refusal.ts'

/** When a schedule runs. Times are milliseconds since 1970. */
export type TimesDefinition = (
  | { readonly type: 'cron'; readonly cron: string; readonly zone: string }
  | { readonly type: 'every'; readonly everyMs: number }
  | { readonly type: 'at'; readonly at: number }
) & {
  /** No time is before it. */
  readonly start?: number
  /** No time is after it. */
  readonly end?: number
}

/** Computes scheduled times. The same question has the same answer, whatever the clock says. */
export interface Timetable {
  /** The first time after this one; null if there is none. */
  next(after: number): number | null
  /** The last `limit` times in the range, which excludes `after` and includes `until`, in order. */
  recent(after: number, until: number, limit: number): readonly number[]
}

/** Computes the times of a cron expression in a time zone. Throws for an expression or a zone that cannot be read. */
export type CronTimetable = (cron: string, zone: string) => Timetable

/** Shorter intervals are for programs that loop by themselves. */
const MIN_INTERVAL_MS = 1_000

/** `anchor`: intervals are counted from the start, or from here. */
export function timetableOf(times: TimesDefinition, anchor: number, cron: CronTimetable): Timetable {
  const unbounded = unboundedTimes(times, anchor, cron)
  const { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = times
  return {
    next(after) {
      const found = unbounded.next(Math.max(after, start - 1))
      return found === null || found > end ? null : found
    },
    recent: (after, until, limit) =>
      unbounded.recent(Math.max(after, start - 1), Math.min(until, end), limit),
  }
}

function unboundedTimes(times: TimesDefinition, anchor: number, cron: CronTimetable): Timetable {
  switch (times.type) {
    case 'cron':
      return cron(times.cron, times.zone)
    case 'every':
      return intervals(times.everyMs, times.start ?? anchor + times.everyMs)
    case 'at':
      return single(times.at)
  }
}

function single(at: number): Timetable {
  return {
    next: (after) => (at > after ? at : null),
    recent: (after, until, limit) => (limit > 0 && at > after && at <= until ? [at] : []),
  }
}

function intervals(everyMs: number, first: number): Timetable {
  const next = (after: number) =>
    after < first ? first : first + (Math.floor((after - first) / everyMs) + 1) * everyMs
  return {
    next,
    recent(after, until, limit) {
      if (until < first) return []
      const last = first + Math.floor((until - first) / everyMs) * everyMs
      const from = Math.max(next(after), last - (limit - 1) * everyMs)
      const found: number[] = []
      for (let time = from; time <= last && found.length < limit; time += everyMs) found.push(time)
      return found
    },
  }
}

/** Refuses times that never come. */
export function refuseTimes(times: TimesDefinition, timetable: Timetable, now: number): Refusal | undefined {
  if (times.type === 'every' && times.everyMs < MIN_INTERVAL_MS)
    return refusal(
      'invalid_input',
      `The interval is shorter than ${MIN_INTERVAL_MS} ms.`,
      'Give a longer one.',
      {
        field: 'times',
      },
    )
  if (timetable.next(now) !== null) return undefined
  return refusal(
    'invalid_input',
    times.type === 'at'
      ? `The time ${new Date(times.at).toISOString()} is in the past.`
      : 'The schedule has no time in the future.',
    'Correct the time, the expression, the start or the end.',
    { field: 'times' },
  )
}
