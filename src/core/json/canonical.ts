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

/** Equality of content: the order of keys does not count. */
export function sameJson(a: Json, b: Json): boolean {
  return a === b || canonical(a) === canonical(b)
}
