/**
 * Text that a person judges: each character that a terminal would hide or act on is shown, also those of escape sequences, and those
 * without a width, which a model reads all the same.
 */
export function literal(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(HIDDEN, shown)
}

/** Controls besides line ends and tabs, formats such as marks of direction and zero widths, variation selectors, and characters without a glyph. */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u{e0100}-\u{e01ef}]/gu

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}
