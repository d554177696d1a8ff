export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Day = (typeof DAYS)[number]

/** A time window that repeats. It may end on the next day, and then its days are those on which it begins. */
export interface Hours {
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, not included; `24:00` is the end of the day. */
  readonly to: string
  /** Every day if left out. */
  readonly days?: readonly Day[]
  /** `+02:00`; UTC if left out. */
  readonly utcOffset?: string
}

const DAY = 24 * 60
const WEEK = 7 * DAY
/** 1 January 1970 was a Thursday. */
const FIRST_DAY = DAYS.indexOf('thu') * DAY

/** Whether a time, in milliseconds since 1970, is in the window. */
export function isWithin(hours: Hours, at: number): boolean {
  return hasMinute(hours, Math.floor(at / 60_000) + FIRST_DAY)
}

/** Whether every minute of the window is in the other one. */
export function isNarrowerHours(hours: Hours, than: Hours): boolean {
  for (let minute = 0; minute < WEEK; minute++)
    if (hasMinute(hours, minute) && !hasMinute(than, minute)) return false
  return true
}

/** Why a window cannot be stored; undefined if it can. */
export function hoursProblem({ from, to, utcOffset }: Hours): string | undefined {
  const begin = minutesOf(from)
  const end = minutesOf(to)
  if (begin === undefined || begin === DAY) return 'from must be a time as in 09:00'
  if (end === undefined) return 'to must be a time as in 17:30'
  if (begin === end) return 'from and to must differ'
  if (utcOffset !== undefined && offsetOf(utcOffset) === undefined)
    return 'utcOffset must be an offset as in +02:00'
  return undefined
}

export function hoursText({ from, to, days, utcOffset }: Hours): string {
  return [`${from}-${to}`, ...(days ?? []), utcOffset ?? 'UTC'].join(' ')
}

/** Minutes count from Monday 00:00 UTC of any week. */
function hasMinute({ from, to, days = DAYS, utcOffset = '+00:00' }: Hours, minute: number): boolean {
  const begin = minutesOf(from) ?? 0
  const end = minutesOf(to) ?? 0
  const length = end > begin ? end - begin : end + DAY - begin
  const local = minute + (offsetOf(utcOffset) ?? 0)
  return days.some((day) => remainder(local - DAYS.indexOf(day) * DAY - begin) < length)
}

function minutesOf(time: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(time) ?? []
  const total = Number(hours) * 60 + Number(minutes)
  return total <= DAY ? total : undefined
}

function offsetOf(offset: string): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(0\d|1[0-4]):([0-5]\d)$/.exec(offset) ?? []
  if (sign === undefined) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Within one week, also of negative minutes. */
function remainder(minutes: number): number {
  return ((minutes % WEEK) + WEEK) % WEEK
}
