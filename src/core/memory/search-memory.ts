/** A line of a file that has words of a query. */
export interface MemoryMatch {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly text: string
}

const MAX_LINE_CHARS = 240
const MAX_WORDS = 16
/** Matches of one file: others must be seen, too. */
const MAX_PER_FILE = 5

/** The words of a query, which are searched without regard to case. */
function wordsOf(query: string): readonly string[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return [...new Set(words)].slice(0, MAX_WORDS)
}

/**
 * The lines that have words of a query: those of files with the most of the words first, and in a file those with the most. A file with
 * none of the words has no match.
 */
export function searchMemory(
  files: readonly { readonly path: string; readonly text: string }[],
  query: string,
  limit: number,
): { readonly matches: readonly MemoryMatch[]; readonly more: number } {
  const words = wordsOf(query)
  const ranked = files.map(({ path, text }) => rankedFile(path, text, words)).filter(({ rank }) => rank > 0)
  ranked.sort((a, b) => b.rank - a.rank || (a.path < b.path ? -1 : 1))
  const all = ranked.flatMap(({ matches }) => matches)
  return { matches: all.slice(0, limit), more: Math.max(0, all.length - limit) }
}

function rankedFile(path: string, text: string, words: readonly string[]) {
  const name = path.toLowerCase()
  const found = new Set(words.filter((word) => name.includes(word)))
  const lines = text.split('\n').flatMap((line, index) => {
    const lower = line.toLowerCase()
    const has = words.filter((word) => lower.includes(word))
    for (const word of has) found.add(word)
    return has.length === 0 ? [] : [{ has: has.length, match: { path, line: index + 1, text: shown(line) } }]
  })
  const best = lines.toSorted((a, b) => b.has - a.has || a.match.line - b.match.line).slice(0, MAX_PER_FILE)
  const [first = ''] = text.split('\n', 1)
  // Only its name has a word: its first line says what it is.
  const matches =
    best.length === 0 && found.size > 0
      ? [{ path, line: 1, text: shown(first) }]
      : best.map(({ match }) => match)
  return { path, rank: found.size, matches }
}

function shown(line: string): string {
  return line.trim().slice(0, MAX_LINE_CHARS).toWellFormed()
}
