import { isObject } from '../../base/is-object.ts'
import { MAX_MEMORY_FILE_BYTES, memoryPathProblem } from './memory-path.ts'

/** A change of a file of memory. */
export interface MemoryChange {
  readonly path: string
  /** Null: the file is deleted. */
  readonly text: string | null
  /** The hash of the content that it was decided on; null: there was no such file. */
  readonly before: string | null
}

/** Facts of one session: more is no extract. */
export const MAX_NOTES = 30
const MAX_NOTE_CHARS = 500
/** Files that one job changes. */
const MAX_CHANGES = 16

/** Of all files that one job writes: its log has them. */
const MAX_CHANGED_CHARS = 100_000

/** What a model must not have made. The message says what is wrong, for people. */
class InvalidMemoryAnswer extends Error {
  override readonly name = 'InvalidMemoryAnswer'
}

/** The notes of an extract. Throws an `InvalidMemoryAnswer`. */
export function parseNotes(answer: string): readonly string[] {
  const notes = jsonIn(answer)
  if (!Array.isArray(notes) || !notes.every((note) => typeof note === 'string'))
    throw new InvalidMemoryAnswer('The extract is no JSON list of texts.')
  return notes
    .map((note) => note.trim().slice(0, MAX_NOTE_CHARS).toWellFormed())
    .filter((note) => note !== '')
    .slice(0, MAX_NOTES)
}

/**
 * The changes that a model wants, checked: only files below `memory/`, and only those that it was shown or that do not exist. `known`: the
 * hashes of all files of memory, by path. Throws an `InvalidMemoryAnswer`.
 */
export function parseChanges(
  answer: string,
  { known, shown }: { readonly known: ReadonlyMap<string, string>; readonly shown: ReadonlySet<string> },
): readonly MemoryChange[] {
  const parsed = jsonIn(answer)
  const list = isObject(parsed) ? parsed['changes'] : undefined
  if (!Array.isArray(list))
    throw new InvalidMemoryAnswer('The answer is no JSON object with a list of changes.')
  if (list.length > MAX_CHANGES)
    throw new InvalidMemoryAnswer(
      `The answer changes ${list.length} files; at most ${MAX_CHANGES} are changed at once.`,
    )
  const changes = list.map((change) => changeIn(change, known, shown))
  const chars = changes.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)
  if (chars > MAX_CHANGED_CHARS)
    throw new InvalidMemoryAnswer(
      `The answer has ${chars} characters of files; at most ${MAX_CHANGED_CHARS} are written at once.`,
    )
  const paths = new Set(changes.map(({ path }) => path))
  if (paths.size < changes.length) throw new InvalidMemoryAnswer('The answer changes a file twice.')
  return changes
}

function changeIn(
  change: unknown,
  known: ReadonlyMap<string, string>,
  shown: ReadonlySet<string>,
): MemoryChange {
  const { path, content } = isObject(change) ? change : {}
  if (typeof path !== 'string' || (typeof content !== 'string' && content !== null))
    throw new InvalidMemoryAnswer('A change has no path, or no content.')
  const problem = path.startsWith('memory/') ? memoryPathProblem(path) : 'it is not below memory/'
  if (problem !== null) throw new InvalidMemoryAnswer(`A change of ${JSON.stringify(path)}: ${problem}.`)
  const before = known.get(path) ?? null
  if (before !== null && !shown.has(path))
    throw new InvalidMemoryAnswer(`A change of ${path}, whose content the model was not shown.`)
  const text = content === null ? null : content.toWellFormed()
  if (text !== null && text.length > MAX_MEMORY_FILE_BYTES)
    throw new InvalidMemoryAnswer(`${path} would be too long.`)
  return { path, text, before }
}

/** Models like to put JSON into a fence. */
function jsonIn(answer: string): unknown {
  const fenced = /^\s*```[a-z]*\n(?<json>[\s\S]*?)\n?```\s*$/.exec(answer)
  try {
    return JSON.parse(fenced?.groups?.['json'] ?? answer)
  } catch {
    throw new InvalidMemoryAnswer('The answer is no JSON.')
  }
}
