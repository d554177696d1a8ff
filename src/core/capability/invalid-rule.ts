import { type Refusal, refusal } from '../refusal.ts'

/** The refusal of a rule that cannot be stored. */
export function invalidRule(
  message: string,
  remedy: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return refusal('invalid_rule', message, remedy, details)
}
