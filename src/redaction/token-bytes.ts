import { ALNUM, DIGIT, isIn, STAR, UPPER_OR_DIGIT } from './characters.ts'
/** Has digits, or letters of both cases: names of functions and files have not. */
export function isVaried(bytes: Uint8Array, from: number, to: number): boolean {
  let sets = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number
    if (isIn(byte, DIGIT)) return true
    if (isIn(byte, UPPER_OR_DIGIT)) sets |= 1
    else if (isIn(byte, ALNUM)) sets |= 2
    if (sets === 3) return true
  }
  // Masked before.
  return bytes[from] === STAR
}

export function beginsWith(bytes: Uint8Array, at: number, to: number, prefix: string): boolean {
  if (at + prefix.length > to) return false
  for (let index = 0; index < prefix.length; index++)
    if (bytes[at + index] !== prefix.charCodeAt(index)) return false
  return true
}
