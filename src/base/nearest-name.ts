const MAX_ERRORS = 2
/** A shorter prefix fits too many names. */
const MIN_PREFIX_CHARS = 4

/** ` Did you mean ps?`, or an empty text. `shown` formats a name as the user types it. */
export function didYouMean(
  given: string,
  known: Iterable<string>,
  shown: (name: string) => string = (name) => name,
): string {
  const meant = nearestName(given, known)
  return meant === undefined ? '' : ` Did you mean ${shown(meant)}?`
}

/** The known name that was probably meant: one with a typing error or two (in less than half of its letters), or one that begins alike. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const names = [...known]
  const [best] = names
    .map((name) => ({ name, errors: typingErrors(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, errors }) => errors <= MAX_ERRORS && errors < Math.max(given.length, name.length) / 2)
    .sort((a, b) => a.errors - b.errors)
  if (best !== undefined) return best.name
  if (given.length < MIN_PREFIX_CHARS) return undefined
  const withPrefix = (prefix: string) =>
    names.find((name) => name.toLowerCase().startsWith(prefix.toLowerCase()))
  return withPrefix(given) ?? withPrefix(given.slice(0, MIN_PREFIX_CHARS))
}

/** The letters to insert, delete, replace or swap with the next one (optimal string alignment distance). */
function typingErrors(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    rows.push(next)
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const errors = [
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        at(row - 1, column) + 1,
        (next[column - 1] ?? 0) + 1,
      ]
      if (row > 1 && column > 1 && isSwapped) errors.push(at(row - 2, column - 2) + 1)
      next.push(Math.min(...errors))
    }
  }
  return at(from.length, to.length)
}
