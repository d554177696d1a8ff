import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The instructions of a folder; the first that exists counts. `CLAUDE.md` is another name for the same thing. */
const NAMES = ['AGENTS.md', 'CLAUDE.md']
/** A file with more text is cut: a prompt must stay affordable. */
const MAX_FILE_CHARS = 40_000
/** Folders that are looked at, those near the root first. */
const MAX_FOLDERS = 64

export interface Instructions {
  /** Absolute. */
  readonly path: string
  readonly text: string
  /** Of the whole file. */
  readonly hash: string
}

/**
 * The instructions that hold for a workspace and for the files that were touched in it: those of the workspace first, then those of each
 * folder below it on the way to a touched file. A file that cannot be read holds nothing.
 */
export async function readInstructions(
  root: string,
  touched: readonly string[],
): Promise<readonly Instructions[]> {
  const found = await Promise.all(foldersOf(root, touched).map(readFolder))
  return found.filter((one) => one !== null)
}

function foldersOf(root: string, touched: readonly string[]): readonly string[] {
  const folders = new Set([root])
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
  return [...folders].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_FOLDERS)
}

async function readFolder(folder: string): Promise<Instructions | null> {
  for (const name of NAMES) {
    const path = join(folder, name)
    const text = await readText(path)
    if (text === null) continue
    const shown =
      text.length > MAX_FILE_CHARS ? `${text.slice(0, MAX_FILE_CHARS)}\n(The rest is left out.)` : text
    return { path, text: shown, hash: hash('sha256', text, 'hex') }
  }
  return null
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    // Absent, a folder, or not readable for this user: there is nothing to tell the model.
    return null
  }
}
