import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Prose and code for sessions that are measured: the documentation and the sources of Reeve itself. A store may compress, so texts must be
 * as regular as real ones, and not more.
 */
export interface RealText {
  readonly prose: string
  readonly files: readonly { readonly name: string; readonly text: string }[]
}

const MIN_FILE_BYTES = 1_500
const MAX_FILE_BYTES = 12_000

/** `root`: the folder of the repository. */
export function realText(root: string): RealText {
  const docs = join(root, 'docs')
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'))
  const prose = pages.map((name) => readFileSync(join(docs, name), 'utf8')).join('\n')
  const folder = join(root, 'src/kernel')
  const files = readdirSync(folder)
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
    .filter(({ text }) => text.length >= MIN_FILE_BYTES && text.length <= MAX_FILE_BYTES)
  return { prose, files }
}

/** Numbers from 0 to 1 that depend on the seed alone. */
export function numbersOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b9)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** So many characters from a place that the numbers choose. */
export function excerpt(text: string, next: () => number, length: number): string {
  const from = Math.floor(next() * (text.length - length))
  return text.slice(from, from + length).toWellFormed()
}
