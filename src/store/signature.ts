import { isObject } from '../base/is-object.ts'
import { canonical } from '../core/json/canonical.ts'
import type { Json } from '../core/json/json.ts'

/**
 * Signatures are numbers that stand for texts and JSON in an index. Equal values have equal signatures, so lists read an index
 * instead of records; different values may share one, so `matches` still decides.
 */
export function labelSignature(label: string): number {
  return hash(label)
}

/** Each member of a definition sets two bits. Numbers of JavaScript and of both databases hold this many bits exactly. */
const BITS = 52
/** A larger definition sets all bits: it may contain anything. */
const MAX_MEMBERS = 32
const ALL_BITS = 2 ** BITS - 1

/** The signature of a definition has all bits of the definitions that it contains. */
export function definitionSignature(definition: Json): number {
  const bits = new Set<number>()
  let members = 0
  const visit = (value: Json, path: string): void => {
    if (!isObject(value)) {
      const number = hash(`${path}=${canonical(value)}`)
      bits.add(number % BITS)
      bits.add(Math.floor(number / BITS) % BITS)
      members += 1
      return
    }
    for (const [key, member] of Object.entries(value)) {
      if (members > MAX_MEMBERS) return
      visit(member, `${path}.${JSON.stringify(key)}`)
    }
  }
  visit(definition, '')
  if (members > MAX_MEMBERS) return ALL_BITS
  return [...bits].reduce((sum, bit) => sum + 2 ** bit, 0)
}

/** The bits that every definition containing this one has. */
export function definitionMask(wanted: Json): number {
  const mask = definitionSignature(wanted)
  // It has so many members that its signature says nothing.
  return mask === ALL_BITS ? 0 : mask
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value ^= text.charCodeAt(index)
    value = Math.imul(value, 0x01000193)
  }
  return value >>> 0
}
