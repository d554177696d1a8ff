/** ` Did you mean ps?`, or nothing. `shown` is how a name is typed. */
export function didYouMean(
  given: string,
  known: Iterable<string>,
  shown: (name: string) => string = (name) => name,
): string {
  const meant = nearest(given, known)
  return meant === undefined ? '' : ` Did you mean ${shown(meant)}?`
}

const MAX_DISTANCE = 2

/** The nearest name, if it is near enough to be a typing mistake: half of a short name is not. */
function nearest(given: string, known: Iterable<string>): string | undefined {
  const [best] = [...known]
    .map((name) => ({ name, distance: distance(given, name) }))
    .filter(({ name, distance }) => distance <= MAX_DISTANCE && distance < name.length / 2)
    .sort((a, b) => a.distance - b.distance)
  return best?.name
}

/** The edit distance: letters to insert, delete, replace or swap with the next one. */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    rows.push(next)
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const ways = [
        at(row - 1, column - 1) + (same ? 0 : 1),
        at(row - 1, column) + 1,
        (next[column - 1] ?? 0) + 1,
      ]
      if (row > 1 && column > 1 && swapped) ways.push(at(row - 2, column - 2) + 1)
      next.push(Math.min(...ways))
    }
  }
  return at(from.length, to.length)
}
