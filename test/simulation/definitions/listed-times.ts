import type { TimesDefinition } from '../../../src/core/schedule/timetable.ts'

const MINUTE = 60_000

/** The first time after this one, from the definition alone. Cron expressions of these worlds are `*` and `*\/n` minutes in UTC. */
export function firstAfter(times: TimesDefinition, createdAt: number, after: number): number | null {
  const { start, end } = times
  const found = unbounded(times, createdAt, start !== undefined && start > after ? start - 1 : after)
  return found === null || (end !== undefined && found > end) ? null : found
}

/** All times in the range, which excludes `after` and includes `until`. */
export function listed(times: TimesDefinition, createdAt: number, after: number, until: number): number[] {
  const found: number[] = []
  for (let at = firstAfter(times, createdAt, after); at !== null && at <= until; ) {
    found.push(at)
    at = firstAfter(times, createdAt, at)
  }
  return found
}

function unbounded(times: TimesDefinition, createdAt: number, after: number): number | null {
  if (times.type === 'at') return times.at > after ? times.at : null
  const [first, step] =
    times.type === 'every'
      ? [times.start ?? createdAt + times.everyMs, times.everyMs]
      : [0, minutesOf(times.cron)]
  if (after < first) return first
  const since = after - first
  return after + step - (since % step)
}

function minutesOf(cron: string): number {
  const [, every = '1'] = /^\*(?:\/(\d+))? \* \* \* \*$/.exec(cron) ?? []
  return Number(every) * MINUTE
}
