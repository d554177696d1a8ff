import { durationOf } from './duration.ts'
import { UsageError } from './usage-error.ts'

const DAY_MS = 86_400_000
const DATE = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[T ](?<time>.+))?$/
const TIME =
  /^(?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.(?<fraction>\d{1,9}))?)?(?<zone>Z|[+-]\d{2}:?\d{2})?$/i

/**
 * Parses a point in time into milliseconds since 1970: `5m` (ago), `2026-03-01`, `2026-03-01T12:30:05`, `12:30` (today), `today`,
 * `yesterday`, `now`, or seconds since 1970 as `@1772368205`. Times without a zone are local.
 */
export function momentOf(text: string, flag: string, now: number): number {
  if (text === 'now') return now
  if (text === 'today') return startOfDay(now)
  // A day is not always 24 hours long.
  if (text === 'yesterday') return startOfDay(startOfDay(now) - DAY_MS / 2)
  if (/^@\d+(\.\d+)?$/.test(text)) return Math.round(Number(text.slice(1)) * 1_000)
  const { year, month, day, time } = DATE.exec(text)?.groups ?? {}
  const today = new Date(now)
  const date: CalendarDay =
    year === undefined
      ? [today.getFullYear(), today.getMonth() + 1, today.getDate()]
      : [Number(year), Number(month), Number(day)]
  const clock = year === undefined ? text : (time ?? '00:00')
  if (TIME.test(clock)) {
    const at = timeOn(date, clock)
    if (at !== null) return at
  } else if (year === undefined && isDuration(text)) return now - durationOf(text, flag)
  throw new UsageError(
    `${flag} was given ${text}, and takes a time.`,
    `For example: ${flag} 5m, ${flag} 12:30, ${flag} 2026-03-01 or ${flag} 2026-03-01T12:30:05Z.`,
  )
}

type CalendarDay = readonly [year: number, month: number, day: number]

/** Null if there is no such day or time: 30 February, 25:00. */
function timeOn([year, month, day]: CalendarDay, clock: string): number | null {
  const { hour, minute, second = '0', fraction = '0', zone } = TIME.exec(clock)?.groups ?? {}
  const parts = [year, month - 1, day, Number(hour), Number(minute), Number(second)] as const
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const utc = new Date(Date.UTC(...parts))
  if (utc.getUTCMonth() !== month - 1 || utc.getUTCDate() !== day) return null
  const ms = Math.floor(Number(`0.${fraction}`) * 1_000)
  if (zone === undefined) return new Date(...parts).getTime() + ms
  const offset = offsetMinutes(zone)
  return offset === null ? null : utc.getTime() + ms - offset * 60_000
}

function offsetMinutes(zone: string): number | null {
  if (/^z$/i.test(zone)) return 0
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? []
  if (Number(hours) > 14 || Number(minutes) > 59) return null
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

function isDuration(text: string): boolean {
  return /^(\d+(\.\d+)?(ms|s|m|h|d)?)+$/.test(text)
}

function startOfDay(at: number): number {
  const date = new Date(at)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}

/** The local time with its zone: `2026-03-01T12:30:05+01:00`. */
export function localTime(at: number): string {
  const date = new Date(at)
  const behind = date.getTimezoneOffset()
  const local = new Date(at - behind * 60_000).toISOString().slice(0, 19)
  const minutes = Math.abs(behind)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${local}${behind > 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
