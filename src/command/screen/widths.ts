import type { IUnicodeVersionProvider } from '@xterm/headless'

/**
 * How many columns a character takes, as programs reckon today by their C library: wide are the East Asian ones and the
 * emoji. The terminal's own table is of 2010, and has emoji narrow, so that all behind one would stand a column off.
 */
export const widths: IUnicodeVersionProvider = {
  version: 'reeve',
  wcwidth: widthOf,
  // The terminal's encoding of a width, and of whether the character joins the cell of the one before it.
  charProperties(codePoint, preceding) {
    const own = widthOf(codePoint)
    const before = (preceding >> 1) & 3
    const joins = own === 0 && preceding !== 0 && before !== 0
    return ((joins ? before : own) << 1) | (joins ? 1 : 0)
  },
}

const UNKNOWN = 3

/** Of the first plane, once they were asked for: frames and arrows come by the thousand. */
const known = new Uint8Array(0x1_0000).fill(UNKNOWN)

function widthOf(codePoint: number): 0 | 1 | 2 {
  const width = known[codePoint]
  if (width === 0 || width === 1 || width === 2) return width
  const found = findWidth(codePoint)
  if (codePoint < known.length) known[codePoint] = found
  return found
}

function findWidth(codePoint: number): 0 | 1 | 2 {
  if (codePoint < 0x300) return isControl(codePoint) ? 0 : 1
  if (WIDE.some(([from, to]) => codePoint >= from && codePoint <= to)) return 2
  const character = String.fromCodePoint(codePoint)
  if (/(?!\p{Regional_Indicator})\p{Emoji_Presentation}/u.test(character)) return 2
  return /\p{Mn}|\p{Me}|\p{Cf}|[\u1160-\u11ff]/u.test(character) ? 0 : 1
}

function isControl(codePoint: number): boolean {
  return codePoint < 0x20 || (codePoint >= 0x7f && codePoint < 0xa0)
}

/** East Asian Width W and F, in whole blocks. */
const WIDE = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
] as const
