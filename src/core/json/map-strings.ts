import type { Json, JsonObject } from './json.ts'

/** The same value with each of its strings replaced. Names of members stay as they are. */
export function mapStrings(value: JsonObject, replace: (text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapped(one, replace)]))
}

function mapped(value: Json, replace: (text: string) => string): Json {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((one: Json) => mapped(one, replace))
  return typeof value === 'object' && value !== null ? mapStrings(value as JsonObject, replace) : value
}
