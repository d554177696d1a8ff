import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The files below a folder that contain this text, as sorted paths relative to the folder. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readOrEmpty(path).includes(text))
    .map((path) => relative(folder, path))
    .sort()
}

/** Daemons and keepers remove files while the folder is read. */
function readOrEmpty(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
