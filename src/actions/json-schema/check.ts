import type { Json, JsonObject } from '../../core/json/json.ts'
import type { Run } from './run.ts'

/**
 * One keyword of a schema, or a whole schema, applied to the value at `path`; `''` is the payload itself. Returns how the value
 * misses it: several misfits are alternatives.
 */
export type Check = (value: Json, path: string, run: Run) => readonly Misfit[] | undefined

/**
 * Most misfits are dropped, because another alternative fits: so making one takes constant time. `path` is a concatenation
 * that is flattened only when the misfit is told, and `says` is made from texts of the compiled schema.
 */
export interface Misfit {
  readonly path: string
  readonly says: string
}

/** The first misfit of these checks. Each check costs a step, whatever it does with the value. */
export function firstMisfit(
  checks: readonly Check[],
  value: Json,
  path: string,
  run: Run,
): readonly Misfit[] | undefined {
  for (const check of checks) {
    run.spend(1)
    const misfit = check(value, path, run)
    if (misfit !== undefined) return misfit
  }
  return undefined
}

/** Alternatives within alternatives count too. */
export const MAX_ALTERNATIVES_SAID = 3
const MAX_SHOWN_CHARS = 200

export function sentenceOf(misfits: readonly Misfit[]): string {
  return misfits
    .map(({ path, says }) => `${path === '' ? 'it' : cut(path.slice(1))} ${cut(says)}`)
    .join(', or ')
}

/** JSON for a misfit, of bounded length. Takes time in proportion to the value: call it when the schema is compiled. */
export function shown(value: Json): string {
  return cut(JSON.stringify(value))
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
