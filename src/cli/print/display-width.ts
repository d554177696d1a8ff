/**
 * How many columns of a terminal a text takes: 2 for a wide character or an emoji, 0 for a control or combining character, else 1.
 * A grapheme (a flag, a family of emoji, a letter with its accents) counts once.
 */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment)
  return width
}

/** The text if it fits, else its beginning with `…`. Never wider than `width`, and never half of a character. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width < 1) return ''
  let kept = ''
  let used = 1
  for (const { segment } of graphemes(text)) {
    used += graphemeWidth(segment)
    if (used > width) break
    kept += segment
  }
  return `${kept}…`
}

/** The text with spaces behind it, up to `width` columns. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

let segmenter: Intl.Segmenter | undefined

/** Made when it is first needed: most output is ASCII, and a segmenter takes milliseconds to load. */
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0
  emoji ??= emojiPattern()
  return emoji.test(grapheme) || WIDE.test(grapheme) ? 2 : 1
}

/** Control, format and combining characters, and nothing else. */
const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]*$/u

let emoji: RegExp | undefined

/**
 * Shown as an emoji by default or by a variation selector (U+FE0F); keycaps and flags are among them. In a function, because this
 * pattern takes 20 ms to parse.
 */
function emojiPattern(): RegExp {
  return /^(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|[\p{Emoji}--[0-9#*]]\ufe0f)/v
}

/**
 * Characters whose East_Asian_Width is W or F in Unicode 17, without those that `emojiPattern` has. JavaScript knows no such property.
 * Unassigned code points between two ranges are in, as the standard asks for the blocks of ideographs.
 */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]/u
