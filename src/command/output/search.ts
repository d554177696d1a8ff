import type { Stream } from '../../output-log/log-format.ts'
import type { Gap } from './layout.ts'
import { indexLines } from './line-index.ts'
import { type Line, lineOf, MAX_PAGE_BYTES, textOf } from './lines.ts'
import type { Masking } from './masking.ts'
import { locatorOf, type Matcher, matcherOf, type Wanted } from './pattern.ts'
import { scanTurns } from './scan-turns.ts'
import type { RawLine } from './split-lines.ts'
import { refuseUntagged } from './streams.ts'
import type { Showing } from './text.ts'
import { truncatedBy, walkLines } from './walk-lines.ts'

export interface SearchOptions extends Wanted {
  /** Byte offset: lines that begin before it are skipped. */
  readonly from?: number
  /** How many matches to give; the others are only counted. */
  readonly limit: number
  /** How many lines to give before and behind each. */
  readonly context?: number
  /** How lines are shown. `render` also searches the rendered text; otherwise the text without escape sequences is searched. */
  readonly ansi?: Showing
  readonly stream?: Stream
  readonly ended?: boolean
  readonly masking?: Masking | null
}

interface Match extends Line {
  /** Where in `text` the match begins, for lines longer than `LONG_LINE_CHARS`; absent if that is not known. */
  readonly at?: number
  readonly before: readonly Line[]
  readonly after: readonly Line[]
}

export interface SearchAnswer {
  readonly matches: readonly Match[]
  /** How many lines match, from `from` on. */
  readonly total: number
  /** There are more than `total`: counting stops at `MAX_COUNTED`. */
  readonly totalIsLeast: boolean
  /** `from` for the matches behind these; null if there are none. */
  readonly next: number | null
  readonly truncated: readonly Gap[]
  /** Lines too long to be searched as a whole: only the beginning of each was. */
  readonly cutLines: number
  /** The offset up to which the log was searched. */
  readonly end: number
}

/** The lines that contain a text or match a pattern, with those around them. */
export async function searchLines(folder: string, options: SearchOptions): Promise<SearchAnswer> {
  const { from = 0, stream, masking = null } = options
  const search = new Search(matcherOf(options), options)
  if (stream !== undefined) await refuseUntagged(folder)
  const index = await indexLines(folder, stream ?? null)
  if (index === null) return { ...search.answer(), truncated: [], end: 0 }
  const lost: Gap[] = []
  const start = index.entries.findLast(({ offset }) => offset <= from) ?? index.entries[0]
  if (start !== undefined)
    for await (const step of walkLines(folder, index, start, { stream: stream ?? null, masking })) {
      if (step.lost !== null) lost.push(step.lost)
      await scanTurns.next()
      for (const line of step.lines) {
        if (line.offset >= from) search.see(line)
        if (search.isDone) break
      }
      if (search.isDone) break
    }
  return { ...search.answer(), truncated: truncatedBy(index, lost), end: index.end }
}

/** Matches that are counted at most. */
export const MAX_COUNTED = 10_000
const MAX_MATCHES = 1000
const MAX_CONTEXT = 50
/** Shorter lines are shown whole everywhere. */
const LONG_LINE_CHARS = 200

class Search {
  readonly #matches: Matcher
  /** Of a line without text: there may be millions. */
  readonly #matchesEmpty: boolean
  readonly #locate: (line: string) => number
  readonly #options: SearchOptions
  readonly #context: number
  readonly #limit: number
  readonly #found: { line: Line & { readonly at?: number }; before: Line[]; after: Line[] }[] = []
  /** The last lines, for the next match; as many as `context`. */
  readonly #before: RawLine[] = []
  #total = 0
  #textLength = 0
  #next: number | null = null
  #cutLines = 0
  #isLeast = false

  constructor(matches: Matcher, options: SearchOptions) {
    this.#matches = matches
    this.#matchesEmpty = matches('')
    this.#locate = locatorOf(options)
    this.#options = options
    this.#context = Math.min(options.context ?? 0, MAX_CONTEXT)
    this.#limit = Math.min(options.limit, MAX_MATCHES)
  }

  get isDone(): boolean {
    return this.#isLeast
  }

  see(raw: RawLine): void {
    if (raw.cut) this.#cutLines++
    this.#addContext(raw)
    if (raw.bytes.length === 0 ? this.#matchesEmpty : this.#matches(this.#searched(raw))) this.#addMatch(raw)
    if (this.#context === 0) return
    this.#before.push(raw)
    if (this.#before.length > this.#context) this.#before.shift()
  }

  #searched(raw: RawLine): string {
    const { ansi, ended = false, masking = null } = this.#options
    return textOf(raw, { ansi: ansi === 'render' ? ansi : 'strip', ended, masking })
  }

  answer() {
    return {
      matches: this.#found.map(({ line, before, after }) => ({ ...line, before, after })),
      total: this.#total,
      totalIsLeast: this.#isLeast,
      next: this.#next,
      cutLines: this.#cutLines,
    }
  }

  #addContext(raw: RawLine): void {
    // Matches are in order, so the ones with open context are at the end.
    for (let index = this.#found.length - 1; index >= 0; index--) {
      const match = this.#found[index]
      if (match === undefined || match.after.length >= this.#context) return
      match.after.push(this.#shown(raw))
    }
  }

  #addMatch(raw: RawLine): void {
    if (this.#total === MAX_COUNTED) {
      this.#isLeast = true
      return
    }
    this.#total++
    const isFull = this.#found.length >= this.#limit || this.#textLength > MAX_PAGE_BYTES
    if (this.#next !== null || isFull) {
      this.#next ??= raw.offset
      return
    }
    const before = this.#before.map((line) => this.#shown(line))
    const line = this.#shown(raw)
    const at = line.text.length > LONG_LINE_CHARS ? this.#locate(line.text) : -1
    this.#found.push({ line: at < 0 ? line : { ...line, at }, before, after: [] })
  }

  #shown(raw: RawLine): Line {
    const { ansi = 'strip', ended = false, stream, masking = null } = this.#options
    const line = lineOf(raw, { ansi, ended, masking }, stream)
    this.#textLength += line.text.length
    return line
  }
}
