import type { Json, JsonObject } from './json.ts'

/** One text per value (RFC 8785): keys in UTF-16 order, numbers as ECMAScript prints them, `-0` as `0`. */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const object = value as JsonObject
  const members = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key] ?? null)}`)
  return `{${members.join(',')}}`
}

/** Equality of content: the order of keys does not count. Equal values have equal canonical texts. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b)
  return sameMembers(a as JsonObject, b as JsonObject)
}

function sameItems(a: readonly Json[], b: readonly Json[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++)
    if (!sameJson(a[index] ?? null, b[index] ?? null)) return false
  return true
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  for (const key of keys)
    if (!Object.hasOwn(b, key) || !sameJson(a[key] ?? null, b[key] ?? null)) return false
  return true
}
