/**
 * Escape sequences in the bytes of a terminal's output, by the grammar of ECMA-48:
 *
 * | begins with           | goes on                          | ends with                             |
 * | CSI: `ESC [`, U+009B  | parameters and intermediates      | a byte of 0x40 … 0x7e                  |
 * | OSC: `ESC ]`, U+009D  | anything                          | BEL, or ST: `ESC \`, U+009C            |
 * | DCS, SOS, PM, APC     | anything                          | ST                                    |
 * | any other `ESC`       | intermediates                     | a byte of 0x30 … 0x7e                  |
 *
 * A byte that does not belong there breaks a sequence off: it stays, and what came before it is gone. A line end does so
 * too: no real sequence contains one, and so what looks like a beginning in binary output swallows a line at most.
 */

/** How long the sequence at `at` is: 0 if none begins there, `UNFINISHED` if the bytes end before it does. */
export function escapeLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === ESC) return escLength(bytes, at)
  if (first === C1_LEAD) return c1Length(bytes, at)
  return 0
}

export const UNFINISHED = -1

/** False if no sequence can begin in these bytes: most lines have none, and need no closer look. */
export function mayEscape(bytes: Uint8Array): boolean {
  // By index: an iterator over bytes takes ten times as long.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === ESC || bytes[at] === C1_LEAD) return true
  return false
}

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a
const NEWLINE = 0x0a
const BACKSLASH = 0x5c
/** U+0080 … U+009F in UTF-8 are this byte and their own number. */
const C1_LEAD = 0xc2
const C1_ST = 0x9c

function escLength(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1]
  switch (kind) {
    case undefined:
      return UNFINISHED
    case 0x5b:
      return finalLength(bytes, at, at + 2, 0x20, 0x40)
    case 0x5d:
      return stringLength(bytes, at, BEL)
    case 0x50:
    case 0x58:
    case 0x5e:
    case 0x5f:
      return stringLength(bytes, at, null)
    default:
      return finalLength(bytes, at, at + 1, 0x20, 0x30)
  }
}

function c1Length(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1]) {
    case 0x9b:
      return finalLength(bytes, at, at + 2, 0x20, 0x40)
    case 0x9d:
      return stringLength(bytes, at, BEL)
    case 0x90:
    case 0x98:
    case 0x9e:
    case 0x9f:
      return stringLength(bytes, at, null)
    default:
      return 0
  }
}

/** Bytes from `inner` on go on with the sequence, those from `final` to 0x7e end it, any other breaks it off. */
function finalLength(bytes: Uint8Array, at: number, from: number, inner: number, final: number): number {
  for (let index = from; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    if (byte >= final && byte <= 0x7e) return index + 1 - at
    if (byte < inner || byte > 0x7e) return index - at
  }
  return UNFINISHED
}

function stringLength(bytes: Uint8Array, at: number, terminator: number | null): number {
  for (let index = at + 2; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === terminator || byte === CAN || byte === SUB) return index + 1 - at
    if (byte === NEWLINE) return index - at
    if (byte === C1_LEAD && bytes[index + 1] === C1_ST) return index + 2 - at
    if (byte !== ESC) continue
    const next = bytes[index + 1]
    if (next === undefined) return UNFINISHED
    return next === BACKSLASH ? index + 2 - at : index - at
  }
  return UNFINISHED
}
