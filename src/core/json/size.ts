import type { Json } from './json.ts'

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
