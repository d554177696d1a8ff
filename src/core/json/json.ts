/** What can be stored: plain JSON, nothing that would read back differently. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/** The member that an object has itself: names like `constructor` every object inherits. */
export function own<Value>(object: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Far below what a call stack can take, far above what anybody nests on purpose. Also ends a value that holds itself. */
const MAX_DEPTH = 500

/** Says where `value` stops being JSON that reads back as it was written, or nothing if it never does. */
export function notJson(value: unknown, path = '', depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return `The value is nested more than ${MAX_DEPTH} deep`
  switch (typeof value) {
    case 'boolean':
      return undefined
    case 'string':
      return value.isWellFormed() ? undefined : `${at(path)} holds half of a surrogate pair`
    case 'number':
      return Number.isFinite(value) ? undefined : `${at(path)} is ${value}, which JSON cannot hold`
    case 'object':
      return value === null ? undefined : notJsonObject(value, path, depth + 1)
    default:
      return `${at(path)} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}, which JSON cannot hold`
  }
}

function notJsonObject(value: object, path: string, depth: number): string | undefined {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = notJson(value[index], `${path}/${index}`, depth)
      if (found) return found
    }
    return undefined
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return `${at(path)} is not a plain object`
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return `${at(path)} has a key with half of a surrogate pair`
    const found = notJson((value as Record<string, unknown>)[key], `${path}/${key}`, depth)
    if (found) return found
  }
  return undefined
}

function at(path: string): string {
  return path === '' ? 'The value' : `The value at ${path}`
}
