import type { Json } from '../../core/json/json.ts'
import type { Run } from './run.ts'

/**
 * Applies one keyword of a schema, or a whole schema, to the value at `path`; `''` is the payload itself. Returns how the value
 * misses it: several misfits are alternatives.
 */
export type Check = (value: Json, path: string, run: Run) => readonly Misfit[] | undefined

/**
 * Most misfits are dropped, because another alternative fits: so creating one takes constant time. `path` is a concatenation
 * that is flattened only when the misfit is reported, and `says` is made from texts of the compiled schema.
 */
export interface Misfit {
  readonly path: string
  readonly says: string
}

/** The first misfit of these checks. Each check costs at least one step. */
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

/** How many alternatives a message names; nested ones count, too. */
export const MAX_ALTERNATIVES = 3
const MAX_TEXT_CHARS = 200

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
  return text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text
}
