/** A text of these bytes, one character for each. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at += MAX_ARGUMENTS)
    text += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, Math.min(to, at + MAX_ARGUMENTS)))
  return text
}

/** So many arguments fit on any stack. */
const MAX_ARGUMENTS = 4096
