import type { Json, JsonObject } from '../../core/json/json.ts'
import type { Run } from './run.ts'

/** Equality of content: the order of keys does not count. */
export function equal(a: Json, b: Json, run: Run): boolean {
  run.spend(1)
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index] ?? null, run))
  const [one, other] = [a as JsonObject, b as JsonObject]
  const keys = Object.keys(one)
  run.spend(keys.length)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && equal(one[key] ?? null, other[key] ?? null, run))
  )
}
