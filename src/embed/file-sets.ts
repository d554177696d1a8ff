import { hash } from 'node:crypto'
import { watch } from 'node:fs'
import { glob, lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { FileSet, FilesSource } from '../core/trigger/trigger.ts'
import type { FileSets } from '../kernel/file-sets.ts'

/** Files of one trigger. Their names are in its row. */
export const MAX_FILES = 1_000
/** Entries that a look at one folder goes through. */
const MAX_ENTRIES = 100_000

/** Sets of files, found by a glob. A file counts as changed with its size or its time of modification. */
export class GlobbedFiles implements FileSets {
  async look({ folder, glob: pattern }: FilesSource): Promise<FileSet | Refusal> {
    const files: Record<string, string> = {}
    let entries = 0
    try {
      if (!(await stat(folder)).isDirectory()) return unreadable(folder, 'it is no folder')
      const paths: string[] = []
      for await (const path of glob(pattern, { cwd: folder })) {
        if (++entries > MAX_ENTRIES) return tooMany(folder, pattern)
        paths.push(path)
      }
      let count = 0
      for (const path of paths.sort()) {
        const stamp = await stampOf(join(folder, path))
        if (stamp === null || !path.isWellFormed()) continue
        if (++count > MAX_FILES) return tooMany(folder, pattern)
        files[path] = stamp
      }
    } catch (error) {
      return unreadable(folder, messageOf(error))
    }
    return { hash: hash('sha256', JSON.stringify(files), 'hex'), files }
  }

  watch(folder: string, nudge: () => void): () => void {
    try {
      const watcher = watch(folder, { recursive: true, persistent: false }, nudge)
      // The sweep looks anyway.
      watcher.on('error', () => watcher.close())
      return () => watcher.close()
    } catch {
      // The folder is gone, or the system has no more watches: the sweep looks anyway.
      return () => undefined
    }
  }
}

/** Null for anything but a file: a link counts as itself, so that it leads to no file outside of the folder. */
async function stampOf(path: string): Promise<string | null> {
  try {
    const found = await lstat(path, { bigint: true })
    return found.isDirectory() ? null : `${found.size} ${found.mtimeNs}`
  } catch (error) {
    // Removed since it was found.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function unreadable(folder: string, reason: string): Refusal {
  return refusal(
    'invalid_input',
    `The folder ${folder} cannot be read: ${reason}.`,
    'Name a folder on the host of the daemon. A trigger that is paused for it has to be resumed.',
    { field: 'source.folder' },
  )
}

function tooMany(folder: string, pattern: string): Refusal {
  return refusal(
    'invalid_input',
    `${pattern} matches more than ${MAX_FILES} files in ${folder}.`,
    'Give a narrower glob.',
    { field: 'source.glob' },
  )
}
