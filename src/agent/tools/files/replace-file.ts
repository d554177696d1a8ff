import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ioError } from './read-content.ts'
import { checkUnchanged, type WorkspacePath } from './workspace-path.ts'

const NEW_FILE_MODE = 0o666

/**
 * Replaces a file, or makes it with the folders above. The content is on disk before the name is given to it: after a crash there is
 * the old file or the new one. A leftover draft of a crash has a name that begins with a dot.
 */
export async function replaceFile(
  path: WorkspacePath,
  bytes: Uint8Array,
  mode: number | null,
): Promise<void> {
  const folder = dirname(path.real)
  const draft = join(folder, `.${basename(path.real).slice(0, 100)}.${randomBytes(6).toString('hex')}.new`)
  try {
    await mkdir(folder, { recursive: true })
    await checkUnchanged(path)
    const file = await open(draft, 'wx', mode ?? NEW_FILE_MODE)
    try {
      // The umask has taken bits from the mode of the new file.
      if (mode !== null) await file.chmod(mode)
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path.real)
    await syncFolder(folder)
  } catch (error) {
    await rm(draft, { force: true })
    throw error instanceof Error && error.name === 'ToolError' ? error : ioError(path.shown, error)
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
