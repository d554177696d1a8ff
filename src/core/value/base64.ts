/** Bytes per call: the arguments of a call are on the stack. */
const CHUNK = 8_192

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let from = 0; from < bytes.length; from += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(from, from + CHUNK))
  return btoa(binary)
}

/** Undefined if the text is not what `toBase64` writes. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  const binary = atob(text)
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
