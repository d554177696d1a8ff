/** A text of these bytes, one character for each. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number)
  return text
}
