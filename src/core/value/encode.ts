import type { Json } from '../json/json.ts'
import { toBase64 } from './base64.ts'
import { MAX_DEPTH, TAG } from './value.ts'

export type Encoded =
  | { readonly type: 'encoded'; readonly json: Json }
  /** `why` names the path in the value, and is a whole clause: "the value at /a is a function". */
  | { readonly type: 'unstorable'; readonly why: string }

/** Each node takes two bytes of JSON or more, so a larger value exceeds every limit. Also bounds values that share parts. */
const MAX_PARTS = 2 ** 20

/** The value as it is stored. JSON is returned as it is, not copied. */
export function encode(value: unknown): Encoded {
  const encoding = new Encoding()
  const json = encoding.of(value)
  return encoding.wrong === undefined
    ? { type: 'encoded', json }
    : { type: 'unstorable', why: encoding.wrong }
}

class Encoding {
  wrong: string | undefined
  readonly #path: (string | number)[] = []
  /** The objects that contain the current one. */
  readonly #above = new Set<object>()
  #depth = 0
  #parts = 0

  of(value: unknown): Json {
    this.#parts += 1
    if (this.#parts > MAX_PARTS) return this.#refuse(`has more than ${MAX_PARTS} parts`)
    switch (typeof value) {
      case 'boolean':
        return value
      case 'string':
        return value.isWellFormed() ? value : this.#refuse('holds half of a surrogate pair')
      case 'number':
        if (!Number.isFinite(value)) return { [TAG]: 'number', value: String(value) }
        // JSON has no -0.
        return value === 0 ? 0 : value
      case 'undefined':
        return { [TAG]: 'undefined' }
      case 'bigint':
        return { [TAG]: 'bigint', value: String(value) }
      case 'object':
        return value === null ? null : this.#within(value)
      default:
        return this.#refuse(`is a ${typeof value}`)
    }
  }

  #within(value: object): Json {
    if (this.#above.has(value)) return this.#refuse('refers to an object that contains it')
    this.#above.add(value)
    const json = this.#object(value)
    this.#above.delete(value)
    return json
  }

  #object(value: object): Json {
    if (Array.isArray(value)) return this.#list(value)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype || prototype === null) return this.#plain(value, prototype === null)
    if (value instanceof Date)
      return { [TAG]: 'Date', value: Number.isNaN(value.getTime()) ? null : value.toISOString() }
    if (value instanceof Map && prototype === Map.prototype)
      return this.#tagged('Map', () => this.#map(value))
    if (value instanceof Set && prototype === Set.prototype)
      return this.#tagged('Set', () => this.#list([...value]))
    if (isBytes(value, prototype)) return { [TAG]: 'Uint8Array', value: toBase64(value) }
    if (value instanceof Error) return this.#error(value)
    const name = value.constructor?.name
    return this.#refuse(name ? `is an instance of the class ${name}` : 'is not a plain object')
  }

  #list(items: readonly unknown[]): Json {
    const encoded: Json[] = []
    let isSame = true
    // By index: a hole is undefined.
    for (let index = 0; index < items.length && this.wrong === undefined; index++) {
      const item = items[index]
      const json = this.#at(index, () => this.of(item))
      isSame &&= Object.is(json, item)
      encoded.push(json)
    }
    return isSame ? (items as readonly Json[]) : encoded
  }

  /** An object without a prototype is copied: the decoded one has a prototype. */
  #plain(value: object, isBare: boolean): Json {
    if (Object.getOwnPropertySymbols(value).length > 0) return this.#refuse('has a symbol as a key')
    const isTagged = Object.hasOwn(value, TAG)
    if (isTagged) return this.#tagged('object', () => this.#members(value, true))
    return this.#members(value, isBare)
  }

  #members(value: object, isCopied: boolean): Json {
    const encoded: [string, Json][] = []
    let isSame = !isCopied
    for (const key of Object.keys(value)) {
      if (!key.isWellFormed()) return this.#refuse('has a key with half of a surrogate pair')
      const member: unknown = (value as Readonly<Record<string, unknown>>)[key]
      const json = this.#at(key, () => this.of(member))
      if (this.wrong !== undefined) return null
      isSame &&= Object.is(json, member)
      encoded.push([key, json])
    }
    return isSame ? (value as { readonly [key: string]: Json }) : Object.fromEntries(encoded)
  }

  #map(map: ReadonlyMap<unknown, unknown>): Json {
    const entries: Json[] = []
    for (const [key, member] of map) {
      if (this.wrong !== undefined) return null
      const index = entries.length
      entries.push(
        this.#at('entries', () =>
          this.#at(index, () => [
            this.#at('key', () => this.of(key)),
            this.#at('value', () => this.of(member)),
          ]),
        ),
      )
    }
    return entries
  }

  /** The parts of an error that programs look at. The stack refers to code that may have changed since. */
  #error(error: Error): Json {
    const { name, message, code, cause } = error as Error & { readonly code?: unknown }
    return {
      [TAG]: 'Error',
      name: this.of(String(name)),
      message: this.of(String(message)),
      ...(typeof code === 'string' || typeof code === 'number' ? { code: this.of(code) } : {}),
      ...(Object.hasOwn(error, 'cause') ? { cause: this.#at('cause', () => this.of(cause)) } : {}),
      ...(error instanceof AggregateError
        ? { errors: this.#at('errors', () => this.#list([...error.errors])) }
        : {}),
    }
  }

  #tagged(tag: string, encoded: () => Json): Json {
    this.#depth += 1
    const value = encoded()
    this.#depth -= 1
    return { [TAG]: tag, value }
  }

  #at(key: string | number, encoded: () => Json): Json {
    if (this.#depth >= MAX_DEPTH) return this.#refuse(`is nested more than ${MAX_DEPTH} deep`)
    this.#depth += 1
    this.#path.push(key)
    const json = encoded()
    this.#path.pop()
    this.#depth -= 1
    return json
  }

  /** The first problem counts. */
  #refuse(why: string): null {
    const path = this.#path.length > MAX_SHOWN ? ['…', ...this.#path.slice(-MAX_SHOWN)] : this.#path
    const at = path.length === 0 ? 'the value' : `the value at /${path.join('/')}`
    this.wrong ??= `${at} ${why}`
    return null
  }
}

/** How many parts of a path are shown. */
const MAX_SHOWN = 20

/** Recognises a `Buffer` among the subclasses of `Uint8Array` by its name: `core` does not know Node. */
function isBytes(value: object, prototype: unknown): value is Uint8Array {
  if (!(value instanceof Uint8Array)) return false
  return prototype === Uint8Array.prototype || value.constructor.name === 'Buffer'
}
