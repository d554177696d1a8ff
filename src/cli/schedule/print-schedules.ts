import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { occurrenceText } from '../print/occurrence-text.ts'
import { ago, localZone, shortTime, zonedTime } from '../print/times.ts'

type Shown = OutputOf<'schedule'>

export function printSchedules({ print }: Pick<Context, 'print'>, schedules: readonly Shown[]): void {
  const now = Date.now()
  const { blue, dim } = print.colours
  print.table(
    [
      { title: 'NAME' },
      { title: 'WHEN', shrinks: true },
      { title: 'NEXT' },
      { title: 'LAST' },
      { title: 'RUNS' },
      { title: 'WHAT', flexible: true },
    ],
    schedules.map((schedule) => [
      { text: schedule.id, paint: blue },
      { text: whenText(schedule) },
      { text: nextText(schedule, now) },
      { text: lastText(schedule, now), paint: dim },
      { text: String(schedule.counts.started) },
      { text: occurrenceText(schedule) },
    ]),
  )
}

export function printSchedule(
  { print }: Pick<Context, 'print'>,
  schedule: Shown,
  failure: string | undefined,
): void {
  const now = Date.now()
  const { counts, paused, running, backfill } = schedule
  const zone = zoneOf(schedule.times)
  const rows: [string, string][] = [
    ['name', schedule.id],
    ['when', whenText(schedule)],
    ['what', occurrenceText(schedule)],
    ['overlap', schedule.overlap],
    ['session', schedule.session],
    ['next', nextText(schedule, now)],
    ...schedule.upcoming.map((at): [string, string] => ['', zonedTime(at, zone)]),
    ['last', lastText(schedule, now)],
    ...(failure === undefined ? [] : [['because', failure] as [string, string]]),
    ...running.map(({ pid }): [string, string] => ['running', pid]),
    ...(backfill === null
      ? []
      : [['backfill', `${backfill.pid}, until ${zonedTime(backfill.until, zone)}`] as [string, string]]),
    [
      'counts',
      `${counts.started} started, ${counts.skipped} skipped, ${counts.missed} missed, ${counts.failed} failed`,
    ],
    ...(paused === null ? [] : [['paused', pausedText(paused, now)] as [string, string]]),
    ['defined', `${ago(schedule.editedAt, now)} by ${schedule.createdBy}`],
  ]
  for (const [name, text] of rows) print.line(`${name.padEnd(9)} ${text}`)
}

function pausedText({ at, by, note }: NonNullable<Shown['paused']>, now: number): string {
  return `${ago(at, now)} by ${by}${note === null ? '' : `: ${note}`}`
}

function whenText({ times }: Shown): string {
  switch (times.type) {
    case 'cron':
      return `${times.cron} ${times.zone}`
    case 'every':
      return `every ${shortTime(times.everyMs)}`
    case 'at':
      return `at ${zonedTime(times.at, zoneOf(times))}`
  }
}

/** Where its times are shown: those of a cron expression in its zone, others where the person is. */
export function zoneOf(times: Shown['times']): string {
  return times.type === 'cron' ? times.zone : localZone()
}

function nextText({ next, paused, running }: Shown, now: number): string {
  if (paused !== null) return 'paused'
  if (next !== null) return next.at > now ? `in ${shortTime(next.at - now)}` : 'due'
  return running.length > 0 ? 'running' : 'none'
}

function lastText({ last }: Shown, now: number): string {
  return last === null ? '' : `${last.status} ${ago(last.at, now)}`
}
