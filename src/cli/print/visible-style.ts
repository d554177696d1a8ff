/** The longest parameters of an SGR sequence that are let through. */
export const MAX_STYLE_CHARS = 64

/**
 * The parameters of an SGR sequence without those that could hide text: colours and common styles stay; concealment (8) and
 * unknown parameters are removed. Null if nothing is left, or if the parameters cannot be parsed.
 */
export function visibleStyle(parameters: string): string | null {
  if (parameters.length > MAX_STYLE_CHARS || !/^[0-9;:]*$/.test(parameters)) return null
  const rest = parameters.split(';')
  const kept: string[] = []
  while (rest.length > 0) {
    const [parameter = ''] = rest
    const code = Number.parseInt(parameter || '0', 10)
    const length = EXTENDED_COLOURS.has(code) ? extendedColourLength(rest) : 1
    // Terminals disagree on where an incomplete colour ends, and might take its numbers for styles.
    if (length === null) return null
    const taken = rest.splice(0, length)
    if (EXTENDED_COLOURS.has(code) || isHarmless(parameter, code)) kept.push(...taken)
  }
  return kept.length === 0 ? null : kept.join(';')
}

/** Foreground, background and underline, each followed by the number of a colour or by its red, green and blue. */
const EXTENDED_COLOURS = new Set([38, 48, 58])

/** How many of these parameters, separated by semicolons, make up the colour that begins with the first; null if incomplete. */
function extendedColourLength([first = '', kind, ...values]: readonly string[]): number | null {
  if (first.includes(':')) return /^[0-9]+:(5:[0-9]+|2(:[0-9]*)?(:[0-9]+){3})$/.test(first) ? 1 : null
  const count = kind === '5' ? 1 : kind === '2' ? 3 : null
  if (count === null) return null
  const colour = values.slice(0, count)
  return colour.length === count && colour.every((value) => /^[0-9]+$/.test(value)) ? 2 + count : null
}

/** Bold to inverse, struck out, overlined, the codes that end them, and the colours that have a code of their own. */
function isHarmless(parameter: string, code: number): boolean {
  // Of these only an underline has a variant behind a colon. Some terminals would take any other variant for a style.
  if (parameter.includes(':')) return /^4:[0-5]$/.test(parameter)
  const isStyle = (code >= 0 && code <= 7) || code === 9 || code === 53
  const isStyleEnd = (code >= 21 && code <= 29) || code === 55 || code === 59
  const isColour = (code >= 30 && code <= 49) || (code >= 90 && code <= 107)
  return isStyle || isStyleEnd || isColour
}
