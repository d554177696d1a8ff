import { UsageError } from './usage-error.ts'

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Parses `500ms`, `30s`, `1m30s` or `2h` into milliseconds; a bare number is seconds, as for timeout(1). */
export function durationOf(text: string, flag: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000)
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
  const read = parts.map(([whole]) => whole).join('')
  if (parts.length === 0 || read !== text)
    throw new UsageError(
      `${flag} was given ${text}, and takes a time.`,
      `For example: ${flag} 30s, 5m or 500ms.`,
    )
  return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0))
}
