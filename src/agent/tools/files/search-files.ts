import { setImmediate } from 'node:timers/promises'
import { RE2JS } from 're2js'
import * as z from 'zod'
import { messageOf } from '../../../base/error-text.ts'
import { cutLine, linesOf } from '../../../core/files/numbered-lines.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { globTest, type PathTest } from './glob-pattern.ts'
import { decodeText, type FileContent, readContent } from './read-content.ts'
import { UnreadPaths } from './unread-paths.ts'
import { type WalkedEntry, walk } from './walk.ts'
import { fileNeed, refuseOutside, resolveOutsideMemory, withoutMemory } from './workspace-path.ts'

const DEFAULT_MATCHES = 100
const MAX_MATCHES = 500
/** A larger file is data. */
const MAX_SEARCHED_BYTES = 2 * 1024 * 1024
/** Of all files together: RE2 in JavaScript reads some megabytes in a second. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024
/** Other work of the program goes on after this many lines. */
const LINES_AT_ONCE = 2_000
/** Of one line that matches. */
const MAX_MATCH_CHARS = 300

const input = z
  .strictObject({
    path: z.string().min(1).optional().describe('the folder to search in; the workspace if left out'),
    glob: z.string().min(1).max(500).optional().describe('which files, for example *.ts or src/**/*.test.ts'),
    text: z.string().min(1).max(1_000).optional().describe('a text that a line has'),
    pattern: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe('a regular expression (RE2) that a line matches'),
    ignoreCase: z.boolean().optional(),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MAX_MATCHES)
      .optional()
      .describe(`how many matches; ${DEFAULT_MATCHES} if left out`),
    includeIgnored: z.boolean().optional().describe('also search what .gitignore names'),
  })
  .refine(
    ({ glob, text, pattern }) => glob !== undefined || text !== undefined || pattern !== undefined,
    'give glob, text or pattern',
  )
  .refine(
    ({ text, pattern }) => text === undefined || pattern === undefined,
    'give text or pattern, not both',
  )

export function searchFilesTool(parts: FileToolParts): AgentTool {
  const { root, isNamed, readable } = parts
  return agentTool({
    name: 'search_files',
    description:
      'Finds files by name (glob), or lines by text or regular expression, as path:line: text. What .gitignore names is left out.',
    input,
    recovery: 'rerunnable',
    essential: true,
    isBounded: true,
    needs: async ({ path = '.' }) => [fileNeed('read', root, await resolveOutsideMemory(parts, path))],
    async run(asked, { abortSignal }) {
      const { path: given = '.', glob, limit = DEFAULT_MATCHES, includeIgnored = false } = asked
      const path = await resolveOutsideMemory(parts, given)
      const need = fileNeed('read', root, path)
      await refuseOutside(path, need, isNamed)
      const mayRead = withoutMemory(parts, await readable(need))
      const search = new Search(glob === undefined ? () => true : pathTestOf(glob), lineTestOf(asked), limit)
      const { unread } = search
      const entries = walk(path, { root, signal: abortSignal, includeIgnored, mayRead, unread })
      for (let next = await entries.next(); ; next = await entries.next()) {
        if (next.done) {
          if (next.value === 'cut_off') search.note('the folder has too many files to look at all of them')
          break
        }
        if (next.value.type === 'file' && !(await search.look(next.value, abortSignal))) break
      }
      return textOutput(search.text(path.shown))
    },
  })
}

class Search {
  readonly #names: PathTest
  readonly #lines: ((line: string) => boolean) | undefined
  readonly #limit: number
  readonly #found: string[] = []
  readonly #notes = new Set<string>()
  readonly unread = new UnreadPaths()
  #skipped = 0
  #bytes = 0

  constructor(names: PathTest, lines: ((line: string) => boolean) | undefined, limit: number) {
    this.#names = names
    this.#lines = lines
    this.#limit = limit
  }

  note(text: string): void {
    this.#notes.add(text)
  }

  /** False when the search is over. */
  async look({ path, real }: WalkedEntry, signal: AbortSignal): Promise<boolean> {
    if (!this.#names(path)) return true
    if (this.#lines === undefined) return this.#add(path)
    const content = await this.#read(path, real)
    if (content === null) return true
    if (content.bytes.length > MAX_SEARCHED_BYTES) {
      this.#skipped += 1
      return true
    }
    this.#bytes += content.bytes.length
    if (this.#bytes > MAX_TOTAL_BYTES) {
      this.note(`stopped after ${MAX_TOTAL_BYTES} bytes; search in a folder below, or with a glob`)
      return false
    }
    const text = decodeText(content.bytes)
    return text === null || this.#lookInText(path, text, this.#lines, signal)
  }

  /** Null if there is no such file any more, or if it cannot be read, which the result says. */
  async #read(path: string, real: string): Promise<FileContent | null> {
    try {
      return await readContent({ real, shown: path, isInside: true })
    } catch (error) {
      if (error instanceof ToolError && error.code === 'too_large') this.#skipped += 1
      else this.unread.skipped(path)
      return null
    }
  }

  async #lookInText(
    path: string,
    text: string,
    matches: (line: string) => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const [index, line] of linesOf(text).entries()) {
      if (index % LINES_AT_ONCE === LINES_AT_ONCE - 1) {
        await setImmediate()
        signal.throwIfAborted()
      }
      if (
        matches(line) &&
        !this.#add(`${path}:${index + 1}: ${cutLine(line.trim()).slice(0, MAX_MATCH_CHARS)}`)
      )
        return false
    }
    return true
  }

  #add(line: string): boolean {
    if (this.#found.length === this.#limit) {
      this.note(`only the first ${this.#limit} matches are shown`)
      return false
    }
    this.#found.push(line)
    return true
  }

  text(where: string): string {
    if (this.#skipped > 0)
      this.note(`${this.#skipped} files larger than ${MAX_SEARCHED_BYTES} bytes were skipped`)
    const notes = [...this.#notes, ...this.unread.notes].map((note) => `(${note})`)
    const found = this.#found.length === 0 ? [`Nothing found in ${where}.`] : this.#found
    return [...found, ...notes].join('\n')
  }
}

function pathTestOf(glob: string): PathTest {
  try {
    return globTest(glob)
  } catch {
    throw new ToolError('invalid_input', `${glob} is no glob: it has a class that cannot be read.`)
  }
}

function lineTestOf({
  text,
  pattern,
  ignoreCase = false,
}: z.output<typeof input>): ((line: string) => boolean) | undefined {
  if (pattern !== undefined) {
    try {
      const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
      return (line) => compiled.test(line)
    } catch (error) {
      throw new ToolError(
        'invalid_input',
        `The pattern cannot be read: ${messageOf(error)}. RE2 has no look-around and no back-references.`,
      )
    }
  }
  if (text === undefined) return undefined
  if (!ignoreCase) return (line) => line.includes(text)
  const lower = text.toLowerCase()
  return (line) => line.toLowerCase().includes(lower)
}
