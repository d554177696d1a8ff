import type { Json, JsonObject } from '../../core/json/json.ts'
import type { Run } from './run.ts'

/** One keyword of a schema, or a whole schema, applied to the value at `path`; `''` is the payload itself. Returns the misfit. */
export type Check = (value: Json, path: string, run: Run) => string | undefined

export function firstMisfit(
  checks: readonly Check[],
  value: Json,
  path: string,
  run: Run,
): string | undefined {
  for (const check of checks) {
    const misfit = check(value, path, run)
    if (misfit !== undefined) return misfit
  }
  return undefined
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function nameOf(path: string): string {
  return path === '' ? 'it' : path.slice(1)
}
