import { nearestName } from '../base/nearest-name.ts'
import { RefusedError } from './errors.ts'
import { type Refusal, refusal } from './refusal.ts'

/** Refuses an unknown option instead of ignoring it: most often it is a known one, misspelt. */
export function checkOptions(call: string, given: unknown, known: readonly string[]): void {
  const refused = refuseUnknown(call, given, known)
  if (refused !== undefined) throw new RefusedError(refused)
}

function refuseUnknown(call: string, given: unknown, known: readonly string[]): Refusal | undefined {
  if (given === undefined) return undefined
  const takes = `${call} takes ${known.join(', ')}`
  if (typeof given !== 'object' || given === null)
    return refusal('invalid_input', `${takes}, as an object.`, 'Give the options as an object.')
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown === undefined) return undefined
  const meant = nearestName(unknown, known)
  const remedy = meant === undefined ? `Leave ${unknown} out.` : `Did you mean ${meant}?`
  return refusal('invalid_input', `${takes}; there is no option ${JSON.stringify(unknown)}.`, remedy, {
    option: unknown,
    ...(meant === undefined ? {} : { meant }),
  })
}
