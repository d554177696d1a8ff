/** How many letters may be wrong. */
const MAX_EDITS = 2
/** Fewer letters begin too many words. */
const LEAST_BEGUN = 4

/** Which of the known words was meant: one that is nearly the same, or begins like it. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, wrong: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.wrong - b.wrong)
  if (best !== undefined && best.wrong <= Math.min(MAX_EDITS, word.length - 1)) return best.candidate
  if (word.length < LEAST_BEGUN) return undefined
  const begins = (start: string) =>
    known.find((candidate) => candidate.toLowerCase().startsWith(start.toLowerCase()))
  return begins(word) ?? begins(word.slice(0, LEAST_BEGUN))
}

/** How many letters have to be put in, taken out or replaced to make one word of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] ?? 0) + (letter === to[column] ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
