/** A text of these bytes, one character for each. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  if (to - from < SHORT) {
    for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number)
    return text
  }
  for (let at = from; at < to; at += MAX_ARGUMENTS)
    text += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, Math.min(to, at + MAX_ARGUMENTS)))
  return text
}

/** For fewer characters a view of the bytes costs more than it saves. */
const SHORT = 48
/** So many arguments fit on any stack. */
const MAX_ARGUMENTS = 4096
