/** ` Did you mean ps?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const meant = nearest(given, known)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

/** What was meant, if it is near enough to be a slip of the fingers. */
function nearest(given: string, known: Iterable<string>): string | undefined {
  const most = given.length <= 3 ? 1 : 2
  const [best] = [...known]
    .map((word) => ({ word, distance: distance(given, word) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
  return best?.word
}

/** How many letters have to be put in, taken out, replaced or swapped with the next to make one word of the other. */
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
