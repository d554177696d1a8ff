const STEPS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
]

/** A duration in one unit, `12m`, or in two if the first is below 10, `1h12m`. */
export function shortTime(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  const at = STEPS.findIndex(([step]) => ms >= step)
  const [step = 1, unit = ''] = STEPS[at] ?? []
  const whole = Math.floor(ms / step)
  const [below = 1, belowUnit = ''] = STEPS[at + 1] ?? []
  const rest = Math.floor((ms % step) / below)
  return whole < 10 && belowUnit !== '' && rest > 0 ? `${whole}${unit}${rest}${belowUnit}` : `${whole}${unit}`
}

export function ago(at: number, now: number): string {
  const passed = now - at
  return passed < 1_000 ? 'just now' : `${shortTime(passed)} ago`
}

export function clockTime(at: number): string {
  return new Date(at)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
}

/** The time in a zone, with its offset: `2026-11-20 02:00:00 +01:00`. In UTC if this program does not know the zone. */
export function zonedTime(at: number, zone: string): string {
  let parts: readonly Intl.DateTimeFormatPart[]
  try {
    parts = new Intl.DateTimeFormat('en-US', { ...FIELDS, timeZone: zone }).formatToParts(at)
  } catch (error) {
    if (error instanceof RangeError) return clockTime(at)
    throw error
  }
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? ''
  const offset = part('timeZoneName').replace('GMT', '')
  const [year, month, day] = [part('year'), part('month'), part('day')]
  const time = `${part('hour')}:${part('minute')}:${part('second')}`
  return `${year}-${month}-${day} ${time} ${offset === '' ? '+00:00' : offset}`
}

const FIELDS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'longOffset',
} as const

/** The time zone of this program. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

export function byteCount(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  const at = Math.min(units.length, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1_024 ** at).toFixed(1)} ${units[at - 1]}`
}
