import type { Json, JsonObject } from '../json/json.ts'
import { fromBase64 } from './base64.ts'
import { TAG, type Value } from './value.ts'

/**
 * The inverse of `encode`. Total: an object that has the tag but not the shape of an encoding means itself, so that values
 * from before the codec read back as they were. JSON without an encoding in it is returned as it is, not copied.
 */
export function decode(json: Json): Value {
  if (json === null || typeof json !== 'object') return json
  if (Array.isArray(json)) return list(json)
  const object = json as JsonObject
  if (!Object.hasOwn(object, TAG)) return members(object)
  const decoded = tagged(object)
  return decoded === undefined ? members(object) : decoded.value
}

function list(items: readonly Json[]): readonly Value[] {
  const decoded = items.map(decode)
  return decoded.every((item, index) => item === items[index]) ? items : decoded
}

function members(object: JsonObject): Value {
  const entries = Object.entries(object)
  const decoded = entries.map(([key, member]) => [key, decode(member)] as const)
  return decoded.every(([, member], index) => member === entries[index]?.[1])
    ? object
    : Object.fromEntries(decoded)
}

function tagged(object: JsonObject): { readonly value: Value } | undefined {
  const { [TAG]: tag, value, ...others } = object
  if (tag === 'Error') return errorOf(object)
  if (Object.keys(others).length > 0) return undefined
  if (tag === 'undefined') return Object.hasOwn(object, 'value') ? undefined : { value: undefined }
  if (value === undefined) return undefined
  return typeof value === 'string' ? ofText(tag, value) : ofParts(tag, value)
}

function ofText(tag: Json | undefined, text: string): { readonly value: Value } | undefined {
  switch (tag) {
    case 'number':
      return NUMBERS.has(text) ? { value: Number(text) } : undefined
    case 'bigint':
      return /^(0|-?[1-9][0-9]*)$/.test(text) ? { value: BigInt(text) } : undefined
    case 'Date': {
      const date = new Date(text)
      return Number.isNaN(date.getTime()) || date.toISOString() !== text ? undefined : { value: date }
    }
    case 'Uint8Array': {
      const bytes = fromBase64(text)
      return bytes === undefined ? undefined : { value: bytes }
    }
    default:
      return undefined
  }
}

const NUMBERS: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])

function ofParts(tag: Json | undefined, parts: Json): { readonly value: Value } | undefined {
  if (tag === 'Date') return parts === null ? { value: new Date(Number.NaN) } : undefined
  if (tag === 'object') {
    const isTagged = typeof parts === 'object' && parts !== null && Object.hasOwn(parts, TAG)
    return isTagged && !Array.isArray(parts) ? { value: members(parts as JsonObject) } : undefined
  }
  if (!Array.isArray(parts)) return undefined
  if (tag === 'Set') return { value: new Set(parts.map(decode)) }
  if (tag !== 'Map' || !parts.every(isPair)) return undefined
  return { value: new Map(parts.map(([key, member]) => [decode(key), decode(member)])) }
}

function isPair(json: Json): json is readonly [Json, Json] {
  return Array.isArray(json) && json.length === 2
}

const ERROR_MEMBERS: ReadonlySet<string> = new Set([TAG, 'name', 'message', 'code', 'cause', 'errors'])

function errorOf(object: JsonObject): { readonly value: Error } | undefined {
  const { name, message, code, cause, errors } = object
  if (typeof name !== 'string' || typeof message !== 'string') return undefined
  if (code !== undefined && typeof code !== 'string' && typeof code !== 'number') return undefined
  if (errors !== undefined && !Array.isArray(errors)) return undefined
  if (Object.keys(object).some((key) => !ERROR_MEMBERS.has(key))) return undefined
  const options = cause === undefined ? undefined : { cause: decode(cause) }
  const error =
    errors === undefined
      ? new (CLASSES.get(name) ?? Error)(message, options)
      : new AggregateError(errors.map(decode), message, options)
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, ...HIDDEN })
  if (code !== undefined) Object.assign(error, { code })
  return { value: error }
}

const HIDDEN = { enumerable: false, configurable: true, writable: true }

/** Error classes of the language. Of other classes the name is kept. */
const CLASSES: ReadonlyMap<string, ErrorConstructor> = new Map<string, ErrorConstructor>([
  ['EvalError', EvalError],
  ['RangeError', RangeError],
  ['ReferenceError', ReferenceError],
  ['SyntaxError', SyntaxError],
  ['TypeError', TypeError],
  ['URIError', URIError],
])
