/**
 * Text that a person judges: each character that a terminal would hide or act on is shown, also those of escape sequences, and those
 * without a width, which a model reads all the same.
 */
export function literal(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(HIDDEN, shown)
}

/** Controls besides line ends and tabs, formats such as marks of direction, and characters without a width or a glyph. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}
