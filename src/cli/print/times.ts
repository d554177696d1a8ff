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

export function byteCount(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  const at = Math.min(units.length, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1_024 ** at).toFixed(1)} ${units[at - 1]}`
}
