import { unlinkSync } from 'node:fs'

/** One file, whether it is there or not. A third of the work of `rmSync`, which looks first. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}
