import { isObject } from '../../base/is-object.ts'

/** A storable value: plain JSON, which reads back unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/** Plain data whose type is an interface, seen as JSON: an interface lacks the index signature that `Json` asks for. */
export function asJson(value: object): JsonObject {
  return value as JsonObject
}

/** The value if it is an object; otherwise an object without members. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** A member of the object itself: every object inherits names like `constructor`. */
export function own<Value>(object: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Far below the limit of a call stack, far above any sensible nesting. Also ends a value that contains itself. */
const MAX_DEPTH = 500

/** Where `value` stops being JSON that reads back unchanged; undefined if it is JSON throughout. */
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

/** Bytes of the JSON text in UTF-8, close enough for a limit: counted without an encoder. */
export function sizeOf(value: Json): number {
  const text = JSON.stringify(value)
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}
