import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { quickFolder } from '../quick-folder.ts'

/** A new folder, in memory where there is such a place: a world makes thousands of commits, and none must outlive it. */
export function ramFolder(): string {
  return mkdtempSync(join(quickFolder, 'reeve-simulation-'))
}
