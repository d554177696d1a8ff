import { Cron } from 'croner'
import type { Timetable } from '../core/schedule/timetable.ts'

/** The times of a cron expression, computed by croner, which is right across daylight saving. No timer runs. */
export function cronTimes(cron: string, zone: string): Timetable {
  refuseFields(cron)
  const job = readable(zone, () => new Cron(cron, { paused: true, timezone: zone, mode: '5-or-6-parts' }))
  const nextRun = (after: number) => job.nextRun(new Date(after))?.getTime() ?? null
  return {
    // Croner looks the zone up with the first time that it computes.
    next: (after) =>
      readable(zone, () => {
        // Runs are whole seconds, and the answer must be later than `after`.
        const found = nextRun(after)
        return found === null || found > after ? found : nextRun(after + 1_000)
      }),
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

/** Croner tells of fields that it is not used with here. */
function refuseFields(cron: string): void {
  const text = cron.trim()
  const count = text.split(/\s+/).length
  // One word is an abbreviation like @daily.
  if (text.startsWith('@') || FIELDS.includes(count)) return
  throw new Error(
    `${cron} has ${count === 1 ? 'one field' : `${count} fields`}, and takes five, or six with seconds.`,
  )
}

const FIELDS = [5, 6]

/** Errors for the person that wrote the expression: those of croner name its own parts. */
function readable<Answer>(zone: string, compute: () => Answer): Answer {
  try {
    return compute()
  } catch (error) {
    if (!isZone(zone)) throw new Error(`${zone} is no time zone.`, { cause: error })
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(message.replace(/^Cron\w+: /, ''), { cause: error })
  }
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}
