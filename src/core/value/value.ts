/** A value that the codec stores and reads back unchanged: JSON, and plain JavaScript data that JSON lacks. */
export type Value =
  | null
  | undefined
  | boolean
  | number
  | string
  | bigint
  | Date
  | Error
  | Uint8Array
  | readonly Value[]
  | ReadonlyMap<Value, Value>
  | ReadonlySet<Value>
  | { readonly [key: string]: Value }

/**
 * An object with this member is an encoding, and the member names the encoded type. Everything else in stored JSON means itself.
 *
 * | value                  | stored as                                                          |
 * | `undefined`            | `{ "$reeve": "undefined" }`                                        |
 * | `NaN`, `±Infinity`     | `{ "$reeve": "number", "value": "NaN" }`                           |
 * | `10n`                  | `{ "$reeve": "bigint", "value": "10" }`                            |
 * | `Date`                 | `{ "$reeve": "Date", "value": "2026-01-31T12:00:00.000Z" }`, an invalid one with `null` |
 * | `Map`                  | `{ "$reeve": "Map", "value": [[key, value], …] }`                  |
 * | `Set`                  | `{ "$reeve": "Set", "value": [item, …] }`                          |
 * | `Uint8Array`, `Buffer` | `{ "$reeve": "Uint8Array", "value": "<base64>" }`                  |
 * | an error               | `{ "$reeve": "Error", "name", "message", "code"?, "cause"?, "errors"? }` |
 * | an object that has a member `$reeve` of its own | `{ "$reeve": "object", "value": { … } }`  |
 */
export const TAG = '$reeve'

/** Levels of JSON. Far below the limit of a call stack. */
export const MAX_DEPTH = 500
