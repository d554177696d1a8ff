import { Cron } from 'croner'
import type { Timetable } from '../core/schedule/timetable.ts'

/** The times of a cron expression, computed by croner, which is right across daylight saving. No timer runs. */
export function cronTimes(cron: string, zone: string): Timetable {
  const job = new Cron(cron, { paused: true, timezone: zone, mode: '5-or-6-parts' })
  const next = (after: number) => {
    // Runs are whole seconds, and the answer must be later than `after`.
    const found = job.nextRun(new Date(after))?.getTime() ?? null
    return found === null || found > after ? found : (job.nextRun(new Date(after + 1_000))?.getTime() ?? null)
  }
  return {
    next,
    recent(after, until, limit) {
      // `previousRuns` excludes its reference, and counts in whole seconds: one run too many may be found.
      const found = job.previousRuns(limit + 1, new Date(until + 1_000)).map((run) => run.getTime())
      return found
        .filter((time) => time > after && time <= until)
        .sort((a, b) => a - b)
        .slice(-limit)
    },
  }
}
