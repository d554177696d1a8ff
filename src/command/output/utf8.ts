/**
 * How many bytes the character at `at` takes. For invalid UTF-8: as many as become one U+FFFD, which are those
 * that could have begun a character, as every decoder of the web platform has it. 0 if the bytes end within a character.
 */
export function unitLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  const following = followingBytes(lead)
  for (let index = 1; index <= following; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) return 0
    if (index === 1 ? !maySecond(lead, byte) : byte < 0x80 || byte > 0xbf) return index
  }
  return following + 1
}

/** How many bytes at the end begin a character without finishing it: 0 to 3. */
export function unfinishedTail(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const at = bytes.length - length
    const byte = bytes[at] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return unitLength(bytes, at) === 0 ? length : 0
  }
  return 0
}

function followingBytes(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0
  if (lead < 0xe0) return 1
  return lead < 0xf0 ? 2 : 3
}

/** Narrower than later ones: no overlong form, no surrogate, nothing above U+10FFFF. */
function maySecond(lead: number, byte: number): boolean {
  if (lead === 0xe0) return byte >= 0xa0 && byte <= 0xbf
  if (lead === 0xed) return byte >= 0x80 && byte <= 0x9f
  if (lead === 0xf0) return byte >= 0x90 && byte <= 0xbf
  if (lead === 0xf4) return byte >= 0x80 && byte <= 0x8f
  return byte >= 0x80 && byte <= 0xbf
}
