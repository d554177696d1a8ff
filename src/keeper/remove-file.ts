import { unlinkSync } from 'node:fs'
import { codeOf } from '../base/error-text.ts'

/** One file, whether it is there or not. A third of the work of `rmSync`, which looks first. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
