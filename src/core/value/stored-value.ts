import { RefusedError } from '../errors.ts'
import type { Json } from '../json/json.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { decode } from './decode.ts'
import { encode } from './encode.ts'
import type { Value } from './value.ts'

export function unstorable(what: string, why: string): Refusal {
  return refusal(
    'unstorable_value',
    `${what} cannot be stored: ${why}.`,
    'Use JSON, Date, Map, Set, Uint8Array, BigInt or errors; of a class instance, its fields.',
  )
}

/**
 * A value as workflows and tools store it: plain JSON stays as it is, a `Date`, `Map`, `Set`, `Uint8Array`, `BigInt`
 * or error becomes an object with the member `$reeve`. Use it for the input of a process that is not spawned by a context.
 * Throws a `RefusedError` with the code `unstorable_value` for everything else.
 */
export function encodeValue(value: unknown): Json {
  const encoded = encode(value)
  if (encoded.type === 'unstorable') throw new RefusedError(unstorable('This value', encoded.why))
  return encoded.json
}

/** Decodes a stored value, for example the `result` of an outcome. The inverse of `encodeValue`. */
export function decodeValue(json: Json): Value {
  return decode(json)
}
