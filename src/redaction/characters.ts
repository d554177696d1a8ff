/** Sets of bytes. Bytes of multi-byte UTF-8 characters are in no set. */
export const WORD = 1
export const ALNUM = 2
export const UPPER_OR_DIGIT = 4
export const HEX = 8
export const DIGIT = 16
/** Characters of environment variable names. */
export const NAME = 32
export const BASE64 = 64
/** Always ends a password in a URL. */
export const ENDS_URL = 128

export const LOWER_OR_DIGIT = 256
/** Hexadecimal digits of either case. */
export const ANY_HEX = 512
/** Characters of tokens with several parts: base64 of either alphabet, and dots between the parts. */
export const PARTS = 1024

/** May end a name, or stand between a name and its separator. */
export const BEFORE_SEPARATOR = 2048

/** Begins a port. */
export const PORT = 4096

/** Ends the name of a part of a private JSON Web Key. */
export const KEY_PART = 8192

/** By byte: the sets that it is in. */
export const SETS = new Uint16Array(256)

/** By byte: whether it belongs to a word, joins words into a longer one, or breaks one. */
const PASS = 0
export const JOINT = 1
export const BREAK = 2
export const STEPS = new Uint8Array(256).fill(BREAK)

export const STAR = 0x2a
export const NEWLINE = 0x0a
export const RETURN = 0x0d
const SPACE = 0x20
const TAB = 0x09
export const ESC = 0x1b
export const QUOTE = 0x22
export const APOSTROPHE = 0x27
export const BACKTICK = 0x60
export const COMMA = 0x2c
export const DASH = 0x2d
export const DOT = 0x2e
export const COLON = 0x3a
export const EQUALS = 0x3d
export const AT = 0x40
export const BACKSLASH = 0x5c
export const UNDERSCORE = 0x5f
export const DOLLAR = 0x24
export const PERCENT = 0x25
export const BRACKET = 0x5b
export const CLOSING_BRACKET = 0x5d
export const PARENTHESIS = 0x28
export const CLOSING_PARENTHESIS = 0x29
export const BRACE = 0x7b
export const CLOSING_BRACE = 0x7d
export const AMPERSAND = 0x26
export const SEMICOLON = 0x3b
export const SLASH = 0x2f
export const PIPE = 0x7c
export const LESS = 0x3c
export const GREATER = 0x3e
export const QUESTION = 0x3f
export const EXCLAMATION = 0x21
export const PLUS = 0x2b
export const TILDE = 0x7e

add('abcdefghijklmnopqrstuvwxyz', WORD | ALNUM | NAME | BASE64)
add('ABCDEFGHIJKLMNOPQRSTUVWXYZ', WORD | ALNUM | UPPER_OR_DIGIT | NAME | BASE64)
add('0123456789', WORD | ALNUM | UPPER_OR_DIGIT | HEX | DIGIT | NAME | BASE64)
add('abcdef', HEX)
add('abcdefghijklmnopqrstuvwxyz0123456789', LOWER_OR_DIGIT)
add('abcdefABCDEF0123456789', ANY_HEX)
add('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/=~', PARTS)
add('_', WORD | NAME)
add('-', WORD)
add('+/=', BASE64)
add(' \t\r\n"\'`<>/?#\\', ENDS_URL)
add('123456789', PORT)
add('dpqik', KEY_PART)
add('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ \t"\'`]:?+|', BEFORE_SEPARATOR)

for (let byte = 0; byte < 256; byte++) if (isIn(byte, WORD)) STEPS[byte] = PASS
for (const joint of [DASH, UNDERSCORE]) STEPS[joint] = JOINT

export function isIn(byte: number | undefined, set: number): boolean {
  return byte !== undefined && ((SETS[byte] ?? 0) & set) !== 0
}

export function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

export function isLineEnd(byte: number | undefined): boolean {
  return byte === NEWLINE || byte === RETURN
}

export function isQuote(byte: number | undefined): boolean {
  return byte === QUOTE || byte === APOSTROPHE || byte === BACKTICK
}

/** The first index from `from` on whose byte matches; `end` if none does. */
export function indexWhere(
  bytes: Uint8Array,
  from: number,
  end: number,
  matches: (byte: number, at: number) => boolean,
): number {
  let at = from
  while (at < end && !matches(bytes[at] as number, at)) at++
  return at
}

/** Whether these characters stand at `at`, ignoring case. `lower` is in lower case. */
export function standsAt(bytes: Uint8Array, at: number, lower: string): boolean {
  if (at < 0 || at + lower.length > bytes.length) return false
  for (let index = 0; index < lower.length; index++) {
    const byte = bytes[at + index] ?? 0
    const small = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte
    if (small !== lower.charCodeAt(index)) return false
  }
  return true
}

function add(characters: string, sets: number): void {
  for (const character of characters) {
    const byte = character.charCodeAt(0)
    SETS[byte] = (SETS[byte] ?? 0) | sets
  }
}
