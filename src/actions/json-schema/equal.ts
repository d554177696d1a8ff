import type { Json, JsonObject } from '../../core/json/json.ts'
import type { Run } from './run.ts'

const CHARS_PER_STEP = 256

/** Equality of content: the order of keys does not count. */
export function equal(a: Json, b: Json, run: Run): boolean {
  run.spend(1)
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length)
    run.spend(a.length / CHARS_PER_STEP)
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index] ?? null, run))
  const [one, other] = [a as JsonObject, b as JsonObject]
  const keys = Object.keys(one)
  const others = Object.keys(other)
  run.spend(keys.length + others.length)
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(other, key) && equal(one[key] ?? null, other[key] ?? null, run))
  )
}
