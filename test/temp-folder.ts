import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { quickFolder } from './quick-folder.ts'

/** Makes a folder for one test; removed when the test is over. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(quickFolder, 'reeve-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A path for a new store, in its own temporary folder. */
export function tempStore(): string {
  return join(tempFolder(), 'reeve.db')
}
