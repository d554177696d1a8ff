import { type Refusal, refusal } from '../refusal.ts'

/** A hundred years: anything later is a mistake. */
export const MAX_WAIT_MS = 100 * 365.25 * 24 * 60 * 60 * 1_000

export function isWaitTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_WAIT_MS
}

export function noWaitTime(value: unknown): Refusal {
  return refusal(
    'invalid_input',
    `${String(value)} is no time to wait.`,
    `Give milliseconds, from 0 to ${MAX_WAIT_MS} (a hundred years).`,
  )
}
