import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The instructions of a folder; the first that exists counts. `CLAUDE.md` is another name for the same thing. */
const NAMES = ['AGENTS.md', 'CLAUDE.md']
/** A file with more text is cut: a prompt must stay affordable. */
const MAX_FILE_CHARS = 40_000
/** Enough for that text in every script; no more of a file is read. */
const MAX_FILE_BYTES = 4 * MAX_FILE_CHARS
/** Folders that are looked at, those near the root first. */
const MAX_FOLDERS = 64
/** Folders above the workspace in which its repository is looked for. */
const MAX_ABOVE = 32

export interface Instructions {
  /** Absolute. */
  readonly path: string
  readonly text: string
  /** Of the part that was read. */
  readonly hash: string
}

/**
 * The instructions that hold for a workspace and for the files that were touched in it: those of the folders from the root of its git
 * repository down to the workspace, then those of each folder below it on the way to a touched file. A file that cannot be read, or that a link
 * leads out of the workspace to (above it: out of the repository), holds nothing: a repository must not get files of its reader into prompts. `told`: paths of instructions that the model knows; they are looked at again.
 */
export async function readInstructions(
  root: string,
  { touched, told = [] }: { readonly touched: readonly string[]; readonly told?: readonly string[] },
): Promise<readonly Instructions[]> {
  const real = await realpath(root).catch(() => null)
  if (real === null) return []
  const above = await foldersAbove(real)
  const [top = real] = above
  const isAbove = new Set(above)
  const folders = [...above, ...foldersOf(root, touched, told).filter((folder) => !isAbove.has(folder))]
  const found = await Promise.all(
    folders.map((folder) => readFolder(folder, isAbove.has(folder) ? top : real)),
  )
  return found.filter((one) => one !== null)
}

/**
 * The folders above a workspace that belong to its git repository, its root first. Only those of this user: another one
 * must not instruct its agents.
 */
async function foldersAbove(workspace: string): Promise<readonly string[]> {
  const above: string[] = []
  if (await hasGit(workspace)) return above
  for (let folder = dirname(workspace); above.length < MAX_ABOVE; folder = dirname(folder)) {
    if (folder === above[0] || !(await isOwn(folder))) return []
    above.unshift(folder)
    if (await hasGit(folder)) return above
  }
  return []
}

/** A worktree has a file of that name. */
async function hasGit(folder: string): Promise<boolean> {
  return (await lstat(join(folder, '.git')).catch(() => null)) !== null
}

async function isOwn(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null)
  return found !== null && found.uid === process.getuid?.()
}

function foldersOf(root: string, touched: readonly string[], told: readonly string[]): readonly string[] {
  const known = new Set([root, ...told.map((path) => dirname(path))])
  const folders = new Set<string>()
  for (const path of touched) {
    const absolute = isAbsolute(path) ? path : resolve(root, path)
    const below = relative(root, dirname(absolute))
    if (below === '' || below.startsWith('..') || isAbsolute(below)) continue
    let folder = root
    for (const name of below.split(sep)) {
      folder = join(folder, name)
      folders.add(folder)
    }
  }
  const byLength = (a: string, b: string) => a.length - b.length || (a < b ? -1 : 1)
  const others = [...folders].filter((folder) => !known.has(folder)).sort(byLength)
  return [...known, ...others.slice(0, Math.max(0, MAX_FOLDERS - known.size))].sort(byLength)
}

async function readFolder(folder: string, root: string): Promise<Instructions | null> {
  for (const name of NAMES) {
    const path = join(folder, name)
    const text = await readText(path, root)
    if (text === null) continue
    const shown =
      text.length > MAX_FILE_CHARS ? `${text.slice(0, MAX_FILE_CHARS)}\n(The rest is left out.)` : text
    return { path, text: shown, hash: hash('sha256', text, 'hex') }
  }
  return null
}

async function readText(path: string, root: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    if (!real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return null
    // A pipe without a writer would be waited for.
    await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    return await beginningOf(file)
  } catch {
    // Absent, a folder, or not readable for this user: there is nothing to tell the model.
    return null
  }
}

/** Null for what is no text. */
async function beginningOf(file: FileHandle): Promise<string | null> {
  if (!(await file.stat()).isFile()) return null
  const bytes = Buffer.alloc(MAX_FILE_BYTES)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, MAX_FILE_BYTES - length, length)
    length += bytesRead
    if (bytesRead === 0 || length === MAX_FILE_BYTES) break
  }
  const read = bytes.subarray(0, length)
  return read.includes(0) ? null : read.toString('utf8')
}
