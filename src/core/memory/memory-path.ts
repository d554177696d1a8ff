/** The folders of a workspace that have long-term memory. `memory` is what agents keep; `knowledge` is what people and agents put there. */
export const MEMORY_FOLDERS = ['memory', 'knowledge'] as const

/** A note is read by a model: a longer text belongs in several files. */
export const MAX_MEMORY_FILE_BYTES = 64 * 1024
/** The index in the prompt names them all. */
export const MAX_MEMORY_FILES = 256
export const MAX_MEMORY_BYTES = 4 * 1024 * 1024
export const MAX_MEMORY_DEPTH = 4
const MAX_PATH_CHARS = 200
const MAX_NAME_CHARS = 100

const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u

/**
 * Whether a path, relative to its workspace and without links, is one of the folders of memory or inside. The case does not count: some
 * file systems take `Memory` for the same folder.
 */
export function isInMemory(relativePath: string): boolean {
  const [first = ''] = relativePath.split(/[/\\]/)
  return FOLDERS.has(first.normalize('NFKC').toLowerCase())
}

const FOLDERS: ReadonlySet<string> = new Set(MEMORY_FOLDERS)

/** Why a path names no file of memory; null if it does. */
export function memoryPathProblem(path: string): string | null {
  const [folder, ...names] = path.split('/')
  if (!MEMORY_FOLDERS.some((one) => one === folder))
    return `it does not begin with ${MEMORY_FOLDERS.map((one) => `${one}/`).join(' or ')}`
  if (!path.endsWith('.md')) return 'it does not end with .md'
  if (path.length > MAX_PATH_CHARS) return `it is longer than ${MAX_PATH_CHARS} characters`
  if (names.length > MAX_MEMORY_DEPTH) return `it is deeper than ${MAX_MEMORY_DEPTH} folders`
  if (path !== path.normalize('NFC')) return 'its letters are not in the normal form NFC'
  const bad = names.find((name) => !NAME.test(name) || name.length > MAX_NAME_CHARS || /[. ]$/.test(name))
  if (bad === undefined) return null
  return `${JSON.stringify(bad)} is no name: use letters, digits, _, -, . and spaces, and begin with a letter, a digit or _`
}

/** Equal for paths that some file systems take for the same. */
export function sameCaseKey(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
