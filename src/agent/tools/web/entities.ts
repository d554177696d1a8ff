/** The names that pages use most. Others stay as they are written. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  copy: '©',
  reg: '®',
  trade: '™',
  times: '×',
  middot: '·',
  bull: '•',
  euro: '€',
  deg: '°',
  para: '¶',
  sect: '§',
  larr: '←',
  rarr: '→',
}

/** Replaces the character references of HTML. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return NAMED[entity] ?? whole
    const isHex = entity.charAt(1).toLowerCase() === 'x'
    const code = Number.parseInt(entity.slice(isHex ? 2 : 1), isHex ? 16 : 10)
    const isCharacter = code > 0 && code <= 0x10_ffff && (code < 0xd800 || code >= 0xe000)
    return isCharacter ? String.fromCodePoint(code) : '\ufffd'
  })
}
