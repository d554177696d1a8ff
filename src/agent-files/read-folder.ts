import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Files of one folder that are looked at. */
const MAX_FILES = 256
/** A larger file defines nothing. */
const MAX_FILE_BYTES = 512 * 1024

export interface ReadFile {
  readonly path: string
  readonly bytes: Buffer
}

/** The regular files of a folder with one of these endings, in the order of their names. An absent folder has none. */
export async function filesIn(folder: string, endings: readonly string[]): Promise<readonly ReadFile[]> {
  const names = (await entriesOf(folder))
    .filter(({ name }) => endings.some((ending) => name.toLowerCase().endsWith(ending)))
    .map(({ name }) => join(folder, name))
    .slice(0, MAX_FILES)
  const read = await Promise.all(names.map((path) => readRegular(path)))
  return read.filter((file) => file !== null)
}

/** The entries of a folder by name; none if it cannot be read. */
export async function entriesOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A regular file, without following a link at its end: a link may be turned to another file at any time. Null: it is none. */
export async function readRegular(path: string, maxBytes = MAX_FILE_BYTES): Promise<ReadFile | null> {
  try {
    // Without O_NONBLOCK a named pipe would wait for its writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      const stat = await file.stat()
      if (!stat.isFile() || stat.size > maxBytes) return null
      return { path, bytes: await file.readFile() }
    } finally {
      await file.close()
    }
  } catch {
    // Absent, a link, or not readable for this user.
    return null
  }
}

export function hashOf(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
