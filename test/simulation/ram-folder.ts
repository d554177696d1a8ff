import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { quickFolder } from '../quick-folder.ts'

/** A new folder, in memory if possible: a world makes thousands of commits, and none must survive it. */
export function ramFolder(): string {
  return mkdtempSync(join(quickFolder, 'reeve-simulation-'))
}
